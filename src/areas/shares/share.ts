import { findGroup, type Actor } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { DateTime, Id, Nullable, OneOf, Optional } from '../../kernel/endpoint/index.ts'
import { conflict, invalid, notFound, refused } from '../../kernel/errors/index.ts'
import type { ShareRow } from './entities.ts'
import * as store from './store.ts'
import type { Shared } from './store.ts'

/** Parameters of a request that lets a group in. */
export const shareParams = {
  group_id: Id({ description: 'The group whose members are let in' }),
  group_access: OneOf([10, 15, 20, 30, 40, 50], { description: 'The highest level that they get' }),
  expires_at: Optional(Nullable(DateTime({ description: 'Day on which it ends, at 00:00 UTC' }))),
}

export interface ShareWish {
  readonly group_id: number
  readonly group_access: number
  readonly expires_at?: Date | null | undefined
}

/** Unknown, unreadable, or kept out by a rule of the hierarchy: all look the same. */
const noSuchGroup = () => refused(404, 'Not Found')

/** Lets a group into a group or project. The caller's right to do so is decided already. */
export async function share(db: Database, actor: Actor, shared: Shared, wish: ShareWish): Promise<ShareRow> {
  const expiresAt = wish.expires_at?.toISOString().slice(0, 10) ?? null
  if (expiresAt !== null && expiresAt < new Date().toISOString().slice(0, 10)) {
    throw invalid({ expires_at: ['cannot be a date in the past'] })
  }
  return db.transaction(async (tx) => {
    const locks = await store.locks(tx, shared)
    if (shared.kind === 'project' && locks.projects) {
      throw refused(400, 'The project sharing with group is disabled')
    }
    const invited = await findGroup(tx, actor, wish.group_id)
    if (invited === undefined) throw noSuchGroup()
    if (locks.outside && !invited.line.includes(shared.line[0]!)) throw noSuchGroup()
    if (shared.kind === 'group' && invited.id === shared.id) throw noSuchGroup()
    if (shared.kind === 'project' && shared.line.includes(invited.id)) {
      throw conflict('Project cannot be shared with the group it is in or one of its ancestors.')
    }
    const fields = { groupId: invited.id, accessLevel: wish.group_access, expiresAt }
    return store.insert(tx, shared, fields, () => conflict(taken[shared.kind]))
  })
}

const taken = {
  group: 'Shared group The group has already been shared with this group',
  project: 'Group already shared with this group',
} as const

/** Ends a share; it is no matter whether the caller may see the group that goes. */
export async function unshare(db: Database, shared: Shared, groupId: number): Promise<void> {
  const there = await db.transaction((tx) => store.remove(tx, shared, groupId))
  if (!there) throw notFound('Group Link')
}
