import { GitError } from './git-error.ts'
import type { Oid } from './parse.ts'

/** As the API writes them; `160000` is a submodule. */
export type FileMode = '040000' | '100644' | '100755' | '120000' | '160000'

export interface RawEntry {
  readonly mode: FileMode
  /** One character a byte, so that names that are not UTF-8 survive. */
  readonly name: string
  readonly oid: Oid
}

/** Old tools wrote modes like 100664; git reads them as the nearest of its own. */
function canonicalMode(octal: string): FileMode {
  const mode = Number.parseInt(octal, 8)
  switch (mode & 0o170000) {
    case 0o040000:
      return '040000'
    case 0o120000:
      return '120000'
    case 0o160000:
      return '160000'
    default:
      return (mode & 0o100) === 0 ? '100644' : '100755'
  }
}

/** Parses the content of a tree object, in its order. */
export function parseTree(content: Buffer): RawEntry[] {
  const entries: RawEntry[] = []
  let at = 0
  while (at < content.length) {
    const space = content.indexOf(0x20, at)
    const nul = space < 0 ? -1 : content.indexOf(0, space + 1)
    if (nul < 0 || nul + 21 > content.length) throw new GitError('failed', 'the tree is broken')
    entries.push({
      mode: canonicalMode(content.toString('latin1', at, space)),
      name: content.toString('latin1', space + 1, nul),
      oid: content.toString('hex', nul + 1, nul + 21) as Oid,
    })
    at = nul + 21
  }
  return entries
}

/** The order of a tree: by bytes, a folder's name being compared as if it ended in a slash. */
function sortKey(entry: RawEntry): string {
  return entry.mode === '040000' ? `${entry.name}/` : entry.name
}

export function formatTree(entries: readonly RawEntry[]): Buffer {
  const keyed = entries.map((entry) => ({ entry, key: sortKey(entry) }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return Buffer.concat(
    keyed.flatMap(({ entry }) => [
      // Git writes the mode of a folder without its leading zero.
      Buffer.from(`${entry.mode.replace(/^0/, '')} ${entry.name}\0`, 'latin1'),
      Buffer.from(entry.oid, 'hex'),
    ]),
  )
}

export function entryType(mode: FileMode): 'tree' | 'blob' | 'commit' {
  return mode === '040000' ? 'tree' : mode === '160000' ? 'commit' : 'blob'
}
