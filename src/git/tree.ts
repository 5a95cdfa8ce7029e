import { objectName, peeled } from './object-readers.ts'
import type { Oid, Rev, TreePath } from './parse.ts'
import type { Repository } from './repository.ts'
import { records } from './run.ts'
import { entryType, parseTree, type FileMode } from './tree-format.ts'

export type { FileMode } from './tree-format.ts'

export interface TreeEntry {
  readonly oid: Oid
  readonly type: 'tree' | 'blob' | 'commit'
  readonly mode: FileMode
  readonly name: string
  /** From the root. Bytes that are no UTF-8 are replaced. */
  readonly path: string
}

export interface TreePage {
  readonly recursive?: boolean | undefined
  /** `folders-first`: folders, then files, then submodules, each by name. Default: git's own order. */
  readonly order?: 'git' | 'folders-first' | undefined
  readonly skip?: number | undefined
  readonly limit?: number | undefined
}

/** The entries of a folder and how many there are in all; `undefined` when revision or folder do not exist. */
export async function listTree(
  repository: Repository,
  rev: Rev,
  path: TreePath,
  { recursive = false, order = 'git', skip = 0, limit = Infinity }: TreePage = {},
): Promise<{ entries: TreeEntry[]; total: number } | undefined> {
  const name = path === '' ? peeled(rev, 'tree') : objectName(rev, path)
  const all = recursive
    ? await readRecursive(repository, name, path)
    : await readFolder(repository, name, path)
  if (all === undefined) return undefined
  if (order === 'folders-first') all.sort((a, b) => rank[a.type] - rank[b.type])
  return { entries: all.slice(skip, skip + limit), total: all.length }
}

const rank = { tree: 0, blob: 1, commit: 2 } as const

type Name = Parameters<Repository['readers']['object']>[1]

async function readFolder(
  repository: Repository,
  name: Name,
  path: TreePath,
): Promise<TreeEntry[] | undefined> {
  const found = await repository.readers.object(repository, name)
  if (found?.type !== 'tree') return undefined
  return parseTree(found.content).map(({ mode, name: bytes, oid }) => {
    const text = Buffer.from(bytes, 'latin1').toString()
    return { oid, type: entryType(mode), mode, name: text, path: path === '' ? text : `${path}/${text}` }
  })
}

async function readRecursive(
  repository: Repository,
  name: Name,
  path: TreePath,
): Promise<TreeEntry[] | undefined> {
  const found = await repository.readers.header(repository, name)
  if (found?.type !== 'tree') return undefined
  const entries: TreeEntry[] = []
  const options = { flags: ['-r', '-t', '-z', '--full-tree'], revs: [found.oid] } as const
  for await (const line of records(repository, 'ls-tree', 0, options)) {
    const tab = line.indexOf(0x09)
    const [mode = '', type = '', oid = ''] = line.toString('latin1', 0, tab).split(' ')
    const below = line.toString('utf8', tab + 1)
    entries.push({
      oid: oid as Oid,
      type: type as TreeEntry['type'],
      mode: mode as FileMode,
      name: below.slice(below.lastIndexOf('/') + 1),
      path: path === '' ? below : `${path}/${below}`,
    })
  }
  return entries
}

/** What is at this path. The root is a folder without a name. */
export async function findEntry(
  repository: Repository,
  rev: Rev,
  path: TreePath,
): Promise<TreeEntry | undefined> {
  if (path === '') {
    const root = await repository.readers.header(repository, peeled(rev, 'tree'))
    return root === undefined
      ? undefined
      : { oid: root.oid, type: 'tree', mode: '040000', name: '', path: '' }
  }
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('/'))) as TreePath
  const siblings = await listTree(repository, rev, parent)
  return siblings?.entries.find((entry) => entry.path === path)
}
