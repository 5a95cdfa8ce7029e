import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import { GitError } from './git-error.ts'
import type { Oid, TreePath } from './parse.ts'
import { repacked, type LargeFiles } from './repack.ts'
import { failure, start, type Workplace } from './run.ts'

export type ArchiveFormat = 'tar.gz' | 'tar.bz2' | 'tar' | 'zip'

export interface ArchiveOptions {
  readonly format: ArchiveFormat
  /** The folder that everything lies in, without a slash at its end; `''` for none. */
  readonly prefix: TreePath
  /** Only this file or folder. */
  readonly path?: TreePath | undefined
  readonly exclude?: readonly TreePath[] | undefined
  /** Given, large files are in it as they are. */
  readonly largeFiles?: LargeFiles | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Writes the files of a commit to `output` and ends it. `export-ignore` and `export-subst` of the commit's attributes
 * hold. Throws before the first byte when the path does not exist.
 */
export async function archive(
  place: Workplace,
  commit: Oid,
  output: Writable,
  options: ArchiveOptions,
): Promise<void> {
  const { format, prefix, path = '' as TreePath, exclude = [], largeFiles, signal } = options
  const container = format === 'tar.bz2' ? 'tar' : format
  const git = start(place, 'archive', {
    flags: [
      `--format=${largeFiles === undefined ? container : 'tar'}`,
      ...(prefix === '' ? [] : ([`--prefix=${prefix}/`] as const)),
    ],
    revs: [commit],
    paths: pathspecs(path, exclude),
    pathspecMagic: true,
    signal,
  })
  git.stdin.end()
  const files = largeFiles === undefined ? git.stdout : repacked(git.stdout, container, largeFiles)
  const packed = format === 'tar.bz2' ? bzip2(signal) : undefined
  try {
    if (packed === undefined) {
      await pipeline(files, output)
    } else {
      await Promise.all([pipeline(files, packed.stdin), pipeline(packed.stdout, output)])
    }
  } catch (cause) {
    git.kill()
    packed?.kill()
    if (signal?.aborted === true) throw new GitError('aborted', 'git archive was stopped', { cause })
    throw cause
  }
  const exitCode = await git.exit
  if (exitCode !== 0) throw failure('archive', exitCode, git.stderr())
}

/** Each marked as literal: a star in a file name is a star. Excluding needs something to exclude from. */
function pathspecs(path: TreePath, exclude: readonly TreePath[]): TreePath[] {
  const included = path === '' ? (exclude.length > 0 ? [':(literal)'] : []) : [`:(literal)${path}`]
  return [...included, ...exclude.map((name) => `:(exclude,literal)${name}`)] as TreePath[]
}

function bzip2(signal: AbortSignal | undefined) {
  const child = spawn('bzip2', ['-c'], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(signal === undefined ? {} : { signal }),
  })
  child.on('error', (cause) => child.stdout.destroy(cause))
  return child
}

/** Whether `tar.bz2` can be made here: git leaves it to a program that not every machine has. */
export async function canBzip2(): Promise<boolean> {
  const child = spawn('bzip2', ['--help'], { env: { PATH: process.env['PATH'] ?? '' }, stdio: 'ignore' })
  try {
    await once(child, 'close')
    return true
  } catch {
    return false
  }
}
