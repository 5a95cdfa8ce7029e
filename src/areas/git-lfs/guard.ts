import type { Actor } from '../../access/index.ts'
import { changedPaths, type Proposal, type RefGuard, type Refusal } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { heldByOthers } from './lock-store.ts'
import { lackingFiles } from './named-files.ts'
import * as store from './store.ts'

interface Mover {
  readonly actor: Actor
  readonly project: { readonly id: number }
  readonly via: 'git' | 'web'
}

const absent = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'

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
      const heads = bringing.map(({ newOid }) => newOid)
      const lacking = lackingFiles(db, { id: project.id, has_objects }, { objects, heads })
      return (await isLacking(lacking)) ? bringing.map(({ ref }) => ({ ref, message: absent })) : []
    },
  }
}

type Bringing = Pick<Proposal, 'updates' | 'objects'>

async function isLacking(files: AsyncIterable<readonly unknown[]>): Promise<boolean> {
  for await (const _some of files) return true
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
