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
    const message: Record<string, string> = {}
    for (const {
      user_id: id,
      access_level: level,
      member_role_id: roleId,
      expires_at: expiresAt,
    } of newcomers) {
      const candidate = byId.get(id)
      if (candidate === undefined) continue
      const accessLevel = mayGrant(actor, place, level) ? level : Math.min(level, Role.maintainer)
      const memberRole =
        roleId === null || !customRoles || accessLevel !== level ? undefined : await findRole(tx, roleId)
      const wish: Wish = { accessLevel, expiresAt, memberRole }
      const text =
        rules.unauthorizedText(actor, place, wish, candidate) ??
        rules.sentence(rules.faultsOf(wish, candidate, circumstances))
      if (text !== '') {
        message[candidate.username] = text
        continue
      }
      await store.put(tx, place, [id], { ...wish, createdById, replace: false })
      await announceMemberships({ events }, tx, createdById, [
        { action: 'join', memberId: id, ...newsPlace(place), accessLevel, expiresAt },
      ])
    }
    if (Object.keys(message).length === 0) return { status: 'success' }
    return { status: 'error', message, total_members_count: newcomers.length }
  })
}
