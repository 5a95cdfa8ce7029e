import type { Actor } from '../../access/index.ts'
import {
  changedPaths,
  newBlobs,
  readBlob,
  type Proposal,
  type RefGuard,
  type Refusal,
} from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { readFileAt } from '../repository/index.ts'
import { heldByOthers } from './lock-store.ts'
import { largestPointer, readPointer } from './pointer.ts'
import * as store from './store.ts'

interface Mover {
  readonly actor: Actor
  readonly project: { readonly id: number }
  readonly via: 'git' | 'web'
}

const absent = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'
const largestAttributes = 64 * 1024
/** Blobs that are looked at, and objects that the database is asked for, at one time. */
const atOnce = 1000

/** Keeps out pushes that name large files which nobody has brought, and those to files that others have locked. */
export function lfsGuard({ db }: { db: Database }, { actor, project, via }: Mover): RefGuard {
  return {
    async check({ updates, objects }) {
      const bringing = updates.filter(({ isDeletion }) => !isDeletion)
      if (via !== 'git' || bringing.length === 0) return []
      const { enabled, has_objects, has_locks } = await store.factsOf(db.reader, project.id)
      if (!enabled) return []
      const locked = has_locks
        ? await lockRefusals(db, actor, project.id, { updates: bringing, objects })
        : []
      if (locked.length > 0) return locked
      if (!has_objects && !(await declares(objects, bringing))) return []
      const lacking = await lacksObjects(db, project.id, { updates: bringing, objects })
      return lacking ? bringing.map(({ ref }) => ({ ref, message: absent })) : []
    },
  }
}

type Bringing = Pick<Proposal, 'updates' | 'objects'>

/** Whether the attributes of a commit say that some of its files are large; projects without any are not searched. */
async function declares(objects: Proposal['objects'], updates: Proposal['updates']): Promise<boolean> {
  for (const newOid of new Set(updates.map((update) => update.newOid))) {
    const attributes = await readFileAt(objects, newOid, '.gitattributes', largestAttributes)
    if (attributes === 'too-large' || attributes?.includes('filter=lfs') === true) return true
  }
  return false
}

async function lacksObjects(
  db: Database,
  projectId: number,
  { updates, objects }: Bringing,
): Promise<boolean> {
  const heads = updates.map(({ newOid }) => newOid)
  for await (const oids of newBlobs(objects, heads, { smallerThan: largestPointer, atOnce })) {
    const blobs = await Promise.all(oids.map((oid) => readBlob(objects, oid, largestPointer)))
    const named = new Set(blobs.flatMap((content) => (content && readPointer(content)?.oid) ?? []))
    if (named.size === 0) continue
    const found = await store.findObjects(db.reader, projectId, [...named])
    if (found.length < named.size) return true
    const borrowed = found.filter(({ own }) => !own).map(({ oid }) => oid)
    await store.link(db, projectId, borrowed)
  }
  return false
}

async function lockRefusals(
  db: Database,
  actor: Actor,
  projectId: number,
  { updates, objects }: Bringing,
): Promise<Refusal[]> {
  const userId = actor.user?.id ?? actor.deployKey?.ownerId ?? null
  const refusals: Refusal[] = []
  for (const { ref, oldOid, newOid, isCreation } of updates) {
    // A new branch changes nothing that somebody works on yet.
    if (isCreation || !ref.startsWith('refs/heads/')) continue
    const paths = (await changedPaths(objects, oldOid, newOid)).flatMap(({ path, oldPath }) => [
      path,
      oldPath,
    ])
    const held = await heldByOthers(db.reader, projectId, userId, [...new Set(paths)])
    if (held.length === 0) continue
    const lines = held.map(({ path, username }) => `'${path}' is locked in Git LFS by @${username}`)
    refusals.push({ ref, message: lines.join('\n') })
  }
  return refusals
}
