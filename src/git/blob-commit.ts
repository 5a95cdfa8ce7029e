import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { formatCommit, type Signature } from './commit-format.ts'
import { findCommit } from './commits.ts'
import { GitError } from './git-error.ts'
import { ingestPack } from './ingest-pack.ts'
import { objectName } from './object-readers.ts'
import { newObject, packBody, packHeader } from './pack-writer.ts'
import { parseOid, zeroOid, type FilePath, type Oid, type RefName } from './parse.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import type { RefUpdate } from './ref-update.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'
import { TreeEdit } from './tree-edit.ts'
import { FileActionError } from './write.ts'

/** Content that waits in a quarantine for a commit to name it. Dispose of it after the refs have moved. */
export interface StoredBlob extends AsyncDisposable {
  readonly oid: Oid
  readonly quarantine: Quarantine
}

/** Takes content of any length in as it comes; this process never holds it whole. Rejects with what `content` fails with. */
export async function storeBlob(
  repository: Repository,
  content: Readable,
  signal?: AbortSignal,
): Promise<StoredBlob> {
  const quarantine = await openQuarantine(repository)
  try {
    const git = start(quarantine.repository, 'hash-object', { flags: ['-w', '--stdin'], signal })
    let said = ''
    git.stdout.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
    try {
      await pipeline(content, git.stdin)
    } catch (error) {
      git.kill()
      await git.exit.catch(() => undefined)
      throw error
    }
    const exitCode = await git.exit
    const oid = parseOid(said.trim())
    if (exitCode !== 0 || oid === undefined) throw failure('hash-object', exitCode, git.stderr())
    return { oid, quarantine, [Symbol.asyncDispose]: () => quarantine[Symbol.asyncDispose]() }
  } catch (error) {
    await quarantine[Symbol.asyncDispose]()
    throw error
  }
}

export interface BlobCommit {
  readonly branch: RefName
  /** Where the content goes; nothing may be there. */
  readonly path: FilePath
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/**
 * Builds, beside the stored content, a commit that adds it to the branch as it is now. May be built again when the
 * branch has moved meanwhile. Throws `FileActionError` when the path is taken.
 */
export async function commitBlob(
  repository: Repository,
  { oid, quarantine }: StoredBlob,
  { branch, path, author, committer, message }: BlobCommit,
): Promise<RefUpdate> {
  const oldOid = (await repository.readers.header(repository, objectName(branch)))?.oid ?? zeroOid
  const base = oldOid === zeroOid ? undefined : await findCommit(repository, oldOid)
  const edit = new TreeEdit(repository, base?.tree)
  if ((await edit.find(path)) !== undefined) throw new FileActionError('exists', path)
  await edit.put(path, { mode: '100644', oid })
  const { root, trees } = edit.finish()
  const parents = base === undefined ? [] : [base.oid]
  const commit = newObject('commit', formatCommit({ tree: root, parents, author, committer, message }))
  const objects = [...new Map([...trees, commit].map((object) => [object.oid, object])).values()]
  const place = { ...quarantine.repository, quarantine: quarantine.repository.quarantine ?? '' }
  const result = await ingestPack(place, packHeader(objects.length), packBody(objects))
  if (!result.ok) throw new GitError('failed', 'git refused the objects', { stderr: result.said })
  return { ref: branch, oldOid, newOid: commit.oid }
}
