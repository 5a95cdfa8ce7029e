import { Role, mayGrant, userOf, type Actor } from '../../access/index.ts'
import { refused } from '../../kernel/errors/index.ts'
import { findRole } from '../member-roles/index.ts'
import type { AdditionServices } from './add.ts'
import { announceMemberships, newsPlace } from './news.ts'
import type { Place } from './place.ts'
import * as rules from './rules.ts'
import type { Wish } from './rules.ts'
import * as store from './store.ts'

export interface ImportServices extends AdditionServices {
  readonly paid: boolean
  readonly customRoles: boolean
}

export interface ImportOutcome {
  readonly status: 'success' | 'error'
  readonly message?: Readonly<Record<string, string>>
  readonly total_members_count?: number
}

/** Makes the direct members of one project members of another, with their levels, ends and custom roles. */
export async function importMembers(
  { db, events, paid, customRoles }: ImportServices,
  actor: Actor,
  place: Place,
  sourceId: number,
): Promise<ImportOutcome> {
  if (await store.isLocked(db.reader, place)) throw refused(405, '405 Method Not Allowed')
  const circumstances = rules.circumstancesOf(place, paid)
  const createdById = userOf(actor).id
  return db.transaction(async (tx) => {
    const newcomers = await store.newcomersFrom(tx, place, sourceId)
    const candidates = await store.candidates(tx, place, { ids: newcomers.map(({ user_id: id }) => id) })
    const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]))
    const roleIds = customRoles ? newcomers.flatMap(({ member_role_id: role }) => role ?? []) : []
    const roles = new Map(
      await Promise.all([...new Set(roleIds)].map(async (role) => [role, await findRole(tx, role)] as const)),
    )
    const message: Record<string, string> = {}
    // Those who come alike come together.
    const alike = new Map<string, { readonly wish: Wish; readonly ids: number[] }>()
    for (const {
      user_id: id,
      access_level: level,
      member_role_id: roleId,
      expires_at: expiresAt,
    } of newcomers) {
      const candidate = byId.get(id)
      if (candidate === undefined) continue
      const accessLevel = mayGrant(actor, place, level) ? level : Math.min(level, Role.maintainer)
      const memberRole = roleId === null || accessLevel !== level ? undefined : roles.get(roleId)
      const wish: Wish = { accessLevel, expiresAt, memberRole }
      const text =
        rules.unauthorizedText(actor, place, wish, candidate) ??
        rules.sentence(rules.faultsOf(wish, candidate, circumstances))
      if (text !== '') {
        message[candidate.username] = text
        continue
      }
      const key = [accessLevel, expiresAt, memberRole?.id].join()
      const others = alike.get(key)
      if (others === undefined) alike.set(key, { wish, ids: [id] })
      else others.ids.push(id)
    }
    for (const { wish, ids } of alike.values()) {
      await store.put(tx, place, ids, { ...wish, createdById, replace: false })
      const { accessLevel, expiresAt } = wish
      const news = { action: 'join', ...newsPlace(place), accessLevel, expiresAt } as const
      await announceMemberships(
        { events },
        tx,
        createdById,
        ids.map((memberId) => ({ memberId, ...news })),
      )
    }
    if (Object.keys(message).length === 0) return { status: 'success' }
    return { status: 'error', message, total_members_count: newcomers.length }
  })
}
