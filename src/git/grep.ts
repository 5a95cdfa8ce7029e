import type { Oid, TreePath } from './parse.ts'
import type { Repository } from './repository.ts'
import { records } from './run.ts'
import { GitError } from './git-error.ts'

export interface Match {
  readonly path: string
  /** From 1. */
  readonly line: number
  /** The line itself; bytes that are no UTF-8 are replaced. */
  readonly text: string
}

/**
 * The lines of a commit's text files that hold this text, whatever its case, in the order of the paths; at most
 * `limit`. One process, however many files there are. The text is no pattern, so that no text takes long.
 */
export async function grep(
  repository: Repository,
  commit: Oid,
  text: string,
  { limit, signal, paths }: { limit: number; signal?: AbortSignal; paths?: readonly TreePath[] },
): Promise<Match[]> {
  // A line break would make several patterns of it, and a NUL binary ones.
  const pattern = text.replace(/[\0\r\n]+/g, ' ')
  if (pattern.trim() === '') return []
  const found: Match[] = []
  const lines = records(repository, 'grep', newline, {
    flags: ['-n', '-I', '-i', '-F', '-z', '--full-name', '--no-color', '-f-'],
    revs: [commit],
    ...(paths !== undefined && { paths }),
    input: `${pattern}\n`,
    signal,
  })
  try {
    for await (const record of lines) {
      // `commit:path NUL line NUL text`
      const [place = '', line = '', ...rest] = record.toString().split('\0')
      found.push({ path: place.slice(commit.length + 1), line: Number(line), text: rest.join('\0') })
      if (found.length >= limit) break
    }
  } catch (error) {
    // Git's way to say that there is nothing.
    if (!(error instanceof GitError) || error.exitCode !== 1) throw error
  }
  return found
}

const newline = 0x0a
