import { GitError } from './git-error.ts'
import { objectName } from './object-readers.ts'
import { newObject, type NewObject } from './pack-writer.ts'
import { emptyTreeOid, type FilePath, type Oid } from './parse.ts'
import type { Repository } from './repository.ts'
import { formatTree, parseTree, type FileMode } from './tree-format.ts'

export interface Leaf {
  readonly mode: Exclude<FileMode, '040000'>
  readonly oid: Oid
}

/** A folder; what is in it is read when somebody looks, and its old id holds as long as nothing changes. */
interface Folder {
  readonly oid: Oid
  entries: Map<string, Leaf | Folder> | undefined
  changed: boolean
}

function isFolder(entry: Leaf | Folder | undefined): entry is Folder {
  return entry !== undefined && 'changed' in entry
}

/** The files of a commit while they are being changed. Reads only the folders on the way. */
export class TreeEdit {
  readonly #repository: Repository
  readonly #root: Folder

  constructor(repository: Repository, root: Oid = emptyTreeOid) {
    this.#repository = repository
    this.#root = { oid: root, entries: undefined, changed: false }
  }

  /** `blocked`: a folder is there, or a file where the path needs a folder. */
  async find(path: FilePath): Promise<Leaf | 'blocked' | undefined> {
    let folder = this.#root
    const parts = split(path)
    for (const [index, part] of parts.entries()) {
      const entry = (await this.#open(folder)).get(part)
      if (entry === undefined) return undefined
      const last = index === parts.length - 1
      if (!isFolder(entry)) return last ? entry : 'blocked'
      if (last) return 'blocked'
      folder = entry
    }
    return undefined
  }

  /** Puts a file there, making folders as needed. The caller has looked that nothing is in the way. */
  async put(path: FilePath, leaf: Leaf): Promise<void> {
    const parts = split(path)
    const name = parts.pop() ?? ''
    const folder = await this.#way(parts)
    ;(await this.#open(folder)).set(name, leaf)
  }

  async remove(path: FilePath): Promise<void> {
    const parts = split(path)
    const name = parts.pop() ?? ''
    const folder = await this.#way(parts)
    ;(await this.#open(folder)).delete(name)
  }

  /** The id of the tree as it is now, and the tree objects that are new. A folder without entries is none. */
  finish(): { root: Oid; trees: NewObject[] } {
    const trees: NewObject[] = []
    const root = finishFolder(this.#root, trees)
    if (root === emptyTreeOid) trees.push(newObject('tree', Buffer.alloc(0)))
    return { root, trees }
  }

  async #way(parts: readonly string[]): Promise<Folder> {
    let folder = this.#root
    folder.changed = true
    for (const part of parts) {
      const entries = await this.#open(folder)
      let next = entries.get(part)
      if (!isFolder(next)) {
        next = { oid: emptyTreeOid, entries: new Map(), changed: true }
        entries.set(part, next)
      }
      next.changed = true
      folder = next
    }
    return folder
  }

  async #open(folder: Folder): Promise<Map<string, Leaf | Folder>> {
    if (folder.entries !== undefined) return folder.entries
    const found = await this.#repository.readers.object(this.#repository, objectName(folder.oid))
    if (found?.type !== 'tree') throw new GitError('failed', 'a tree is missing')
    folder.entries = new Map(
      parseTree(found.content).map(({ name, mode, oid }) => [
        name,
        mode === '040000' ? { oid, entries: undefined, changed: false } : { mode, oid },
      ]),
    )
    return folder.entries
  }
}

/** Names in a tree are bytes: one character for each. */
function split(path: FilePath): string[] {
  return Buffer.from(path).toString('latin1').split('/')
}

function finishFolder(folder: Folder, trees: NewObject[]): Oid {
  if (!folder.changed || folder.entries === undefined) return folder.oid
  const entries = [...folder.entries].map(([name, entry]) =>
    isFolder(entry)
      ? { name, mode: '040000' as const, oid: finishFolder(entry, trees) }
      : { name, mode: entry.mode, oid: entry.oid },
  )
  const kept = entries.filter(({ oid }) => oid !== emptyTreeOid)
  if (kept.length === 0) return emptyTreeOid
  const tree = newObject('tree', formatTree(kept))
  trees.push(tree)
  return tree.oid
}
