import { emptyTreeOid, isZero, type Oid } from './parse.ts'
import { type ChangedPath } from './diffs.ts'
import { PatchReader } from './patch-reader.ts'
import { failure, start, type Workplace } from './run.ts'

export interface DiffLimits {
  /** Files that are listed; the rest is left out. */
  readonly files: number
  /** Bytes of one file's patch. */
  readonly patchBytes: number
  /** Lines of all patches together. */
  readonly lines: number
}

export interface FileDiff extends ChangedPath {
  /** From its first `@@` (or `Binary files`) on; empty where nothing but the name or the mode changed. */
  readonly patch: string
  /** The patch passed a limit and was left out. */
  readonly tooLarge: boolean
}

export interface DiffPage {
  readonly files: readonly FileDiff[]
  /** Of all pages, cut at the limit. */
  readonly total: number
  /** Something was left out. */
  readonly overflow: boolean
}

/**
 * The files that differ between two commits or trees, with their patches, renames found. Git is stopped as soon as the
 * page is full. `zeroOid` compares as the empty tree.
 */
export async function fileDiffs(
  place: Workplace,
  from: Oid,
  to: Oid,
  limits: DiffLimits,
  { skip = 0, count = Infinity, signal }: { skip?: number; count?: number; signal?: AbortSignal } = {},
): Promise<DiffPage> {
  const git = start(place, 'diff-tree', {
    flags: ['-r', '-z', '--raw', '-p', '--full-index', '--find-renames', '--no-ext-diff', '--no-textconv'],
    revs: [isZero(from) ? emptyTreeOid : from, isZero(to) ? emptyTreeOid : to],
    signal,
  })
  git.stdin.end()
  const reader = new PatchReader(limits.patchBytes)
  let complete = false
  try {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      reader.feed(chunk)
      if (reader.sections.length > Math.min(limits.files, skip + count) + typeChanges(reader)) break
    }
    complete = true
  } finally {
    // Where the page is full git has more to say that nobody wants to hear.
    git.kill()
    if (!complete) await git.exit.catch(() => undefined)
  }
  const exitCode = await git.exit.catch((error: unknown) => {
    if (reader.paths !== undefined) return 0
    throw error
  })
  if (exitCode !== 0) throw failure('diff-tree', exitCode, git.stderr())
  return pageOf(reader, limits, skip, count)
}

function typeChanges({ paths = [] }: PatchReader): number {
  return paths.filter(({ status }) => status === 'type-changed').length
}

function pageOf(reader: PatchReader, limits: DiffLimits, skip: number, count: number): DiffPage {
  reader.end()
  const paths = reader.paths ?? []
  const sections = reader.sections.values()
  const files: FileDiff[] = []
  let lines = 0
  for (const [index, path] of paths.slice(0, limits.files).entries()) {
    // A file that became a link is shown as one that goes and one that comes.
    const parts = sections.take(path.status === 'type-changed' ? 2 : 1)
    let patch = ''
    let tooLarge = false
    for (const section of parts) {
      patch += section.text
      tooLarge ||= section.tooLarge
      lines += section.lines
    }
    if (index < skip) continue
    if (files.length >= count) break
    tooLarge ||= lines > limits.lines
    files.push({ ...path, patch: tooLarge ? '' : patch, tooLarge })
  }
  const total = Math.min(paths.length, limits.files)
  return { files, total, overflow: paths.length > total || files.some(({ tooLarge }) => tooLarge) }
}
