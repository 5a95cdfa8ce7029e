import { findGroup, type Actor } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database, Reader } from '../../kernel/db/index.ts'
import { DateTime, Id, Nullable, OneOf, Optional, requireUnmodified } from '../../kernel/endpoint/index.ts'
import { conflict, invalid, notFound, refused } from '../../kernel/errors/index.ts'
import { findRole } from '../member-roles/index.ts'
import type { ShareRow } from './entities.ts'
import * as store from './store.ts'
import type { Shared } from './store.ts'

/** Parameters of a request that lets a group in. */
export const shareParams = {
  group_id: Id({ description: 'The group whose members are let in' }),
  group_access: OneOf([10, 15, 20, 30, 40, 50], { description: 'The highest level that they get' }),
  expires_at: Optional(Nullable(DateTime({ description: 'Day on which it ends, at 00:00 UTC' }))),
  member_role_id: Optional(
    Nullable(Id({ description: 'Top plan: a custom role, with this base, of those whom the share lowers' })),
  ),
}

export interface ShareWish {
  readonly group_id: number
  readonly group_access: number
  readonly expires_at?: Date | null | undefined
  readonly member_role_id?: number | null | undefined
}

/** Unknown, unreadable, or kept out by a rule of the hierarchy: all look the same. */
export const noSuchGroup = () => refused(404, 'Not Found')

/** Lets a group into a group or project. The caller's right to do so is decided already. */
export async function share(
  { db, plan }: { readonly db: Database; readonly plan: Plan },
  actor: Actor,
  shared: Shared,
  wish: ShareWish,
): Promise<ShareRow> {
  const customRoles = offers(plan, 'member_roles')
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
    const memberRoleId = customRoles ? await roleFor(tx, shared, wish) : null
    const fields = { groupId: invited.id, accessLevel: wish.group_access, expiresAt, memberRoleId }
    return store.insert(tx, shared, fields, () => conflict(taken[shared.kind]))
  })
}

/** The custom role of a share: it goes with its base level, and stays in its tree. */
async function roleFor(db: Reader, shared: Shared, wish: ShareWish): Promise<number | null> {
  if (wish.member_role_id === undefined || wish.member_role_id === null) return null
  const role = await findRole(db, wish.member_role_id)
  if (role === undefined || (role.group_id !== null && role.group_id !== shared.line[0])) {
    throw notFound('Member Role')
  }
  if (role.base_access_level !== wish.group_access) {
    throw invalid({
      member_role_id: ["role's base access level does not match the access level of the membership"],
    })
  }
  return role.id
}

const taken = {
  group: 'Shared group The group has already been shared with this group',
  project: 'Group already shared with this group',
} as const

/** Ends a share; it is no matter whether the caller may see the group that goes. */
export async function unshare(
  db: Database,
  shared: Shared,
  groupId: number,
  request: Parameters<typeof requireUnmodified>[0],
): Promise<void> {
  await db.transaction(async (tx) => {
    const updatedAt = await store.remove(tx, shared, groupId)
    if (updatedAt === undefined) throw notFound('Group Link')
    requireUnmodified(request, updatedAt)
  })
}
