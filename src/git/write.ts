import { formatCommit, formatTag, type Signature } from './commit-format.ts'
import { findCommit } from './commits.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { objectName } from './object-readers.ts'
import { newObject, packBody, packHeader, type NewObject } from './pack-writer.ts'
import { zeroOid, type FilePath, type Oid, type RefName } from './parse.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { RefUpdate } from './ref-update.ts'
import type { Repository } from './repository.ts'
import { TreeEdit, type Leaf } from './tree-edit.ts'

export type FileAction =
  | {
      readonly action: 'create'
      readonly path: FilePath
      readonly content: Buffer
      readonly executable?: boolean
    }
  | {
      readonly action: 'update'
      readonly path: FilePath
      readonly content: Buffer
      readonly executable?: boolean
    }
  | { readonly action: 'delete'; readonly path: FilePath }
  /** With new content if some is given. */
  | {
      readonly action: 'move'
      readonly path: FilePath
      readonly previousPath: FilePath
      readonly content?: Buffer | undefined
    }
  | { readonly action: 'chmod'; readonly path: FilePath; readonly executable: boolean }
  /** Lets a submodule that is there be at another commit, which is another repository's. */
  | { readonly action: 'point'; readonly path: FilePath; readonly commit: Oid }

/** `exists`: something is there already, or a file is where a folder is needed. `missing`: no file is there. */
export class FileActionError extends Error {
  readonly problem: 'exists' | 'missing'
  readonly path: FilePath

  constructor(problem: 'exists' | 'missing', path: FilePath) {
    super(problem === 'exists' ? 'a file with this name exists' : 'there is no file with this name')
    this.name = 'FileActionError'
    this.problem = problem
    this.path = path
  }
}

export interface CommitRequest {
  readonly branch: RefName
  /** The commit to build on. Default: the head of the branch, or nothing when there is no such branch yet. */
  readonly start?: Oid | undefined
  readonly actions: readonly FileAction[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/**
 * Objects that are written but not let in, and the update that would bring them: hand both to `updateRefs`, then
 * dispose. Nothing is left of a change that is not.
 */
export interface PreparedChange extends AsyncDisposable {
  readonly oid: Oid
  readonly updates: readonly RefUpdate[]
  readonly quarantine: Quarantine
}

/** Builds a commit without moving the branch. Throws `FileActionError` for an action that does not fit. */
export async function commitFiles(repository: Repository, request: CommitRequest): Promise<PreparedChange> {
  const oldOid = await valueOf(repository, request.branch)
  const start = request.start ?? (oldOid === zeroOid ? undefined : oldOid)
  const base = start === undefined ? undefined : await findCommit(repository, start)
  if (start !== undefined && base === undefined) throw new GitError('failed', 'the start is no commit')
  const edit = new TreeEdit(repository, base?.tree)
  const blobs: NewObject[] = []
  for (const action of request.actions) await act(edit, action, blobs)
  const { root, trees } = edit.finish()
  const { author, committer, message } = request
  const parents = base === undefined ? [] : [base.oid]
  const commit = newObject('commit', formatCommit({ tree: root, parents, author, committer, message }))
  const update = { ref: request.branch, oldOid, newOid: commit.oid }
  return store(repository, [...blobs, ...trees, commit], update)
}

export interface TagRequest {
  readonly tag: RefName
  readonly target: Oid
  readonly tagger: Signature
  readonly message: string
}

/** Builds an annotated tag without making its ref. */
export async function annotateTag(repository: Repository, request: TagRequest): Promise<PreparedChange> {
  const { tag, target, tagger, message } = request
  const found = await repository.readers.header(repository, objectName(target))
  if (found === undefined) throw new GitError('failed', 'the target of the tag is missing')
  const name = tag.replace(/^refs\/tags\//, '')
  const object = newObject('tag', formatTag({ target, targetType: found.type, name, tagger, message }))
  return store(repository, [object], { ref: tag, oldOid: zeroOid, newOid: object.oid })
}

async function valueOf(repository: Repository, ref: RefName): Promise<Oid> {
  return (await repository.readers.header(repository, objectName(ref)))?.oid ?? zeroOid
}

/** The objects enter as a pack, as those of a push do, so that git looks at them with the same eyes. */
async function store(
  repository: Repository,
  objects: readonly NewObject[],
  update: RefUpdate,
): Promise<PreparedChange> {
  const quarantine = await openQuarantine(repository)
  try {
    const place = { ...quarantine.repository, quarantine: quarantine.repository.quarantine ?? '' }
    const unique = [...new Map(objects.map((object) => [object.oid, object])).values()]
    const result = await ingestPack(place, packHeader(unique.length), packBody(unique))
    if (!result.ok) throw new GitError('bad-objects', 'git refused the objects', { stderr: result.said })
  } catch (error) {
    await quarantine[Symbol.asyncDispose]()
    throw error
  }
  return {
    oid: update.newOid,
    updates: [update],
    quarantine,
    [Symbol.asyncDispose]: () => quarantine[Symbol.asyncDispose](),
  }
}

async function act(edit: TreeEdit, action: FileAction, blobs: NewObject[]): Promise<void> {
  const blob = (content: Buffer): Oid => {
    const object = newObject('blob', content)
    blobs.push(object)
    return object.oid
  }
  switch (action.action) {
    case 'create':
      await mustBeFree(edit, action.path)
      return edit.put(action.path, { mode: mode(action.executable), oid: blob(action.content) })
    case 'update': {
      const old = await mustExist(edit, action.path)
      const newMode = action.executable === undefined ? old.mode : mode(action.executable)
      return edit.put(action.path, { mode: newMode, oid: blob(action.content) })
    }
    case 'delete':
      await mustExist(edit, action.path)
      return edit.remove(action.path)
    case 'move': {
      const old = await mustExist(edit, action.previousPath)
      await edit.remove(action.previousPath)
      await mustBeFree(edit, action.path)
      const oid = action.content === undefined ? old.oid : blob(action.content)
      return edit.put(action.path, { mode: old.mode, oid })
    }
    case 'chmod': {
      const old = await mustExist(edit, action.path)
      return edit.put(action.path, { mode: mode(action.executable), oid: old.oid })
    }
    case 'point':
      return edit.put(action.path, { mode: '160000', oid: action.commit })
  }
}

function mode(executable: boolean | undefined): Leaf['mode'] {
  return executable === true ? '100755' : '100644'
}

/** A submodule is no file. */
async function mustExist(edit: TreeEdit, path: FilePath): Promise<Leaf> {
  const found = await edit.find(path)
  if (found === undefined || found === 'blocked' || found.mode === '160000')
    throw new FileActionError('missing', path)
  return found
}

async function mustBeFree(edit: TreeEdit, path: FilePath): Promise<void> {
  if ((await edit.find(path)) !== undefined) throw new FileActionError('exists', path)
}
