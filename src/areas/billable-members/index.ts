import {
  endpoint,
  group,
  levelsWithoutSeat,
  may,
  userOf,
  type Actor,
  type GroupSubject,
} from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Fields, Id, ListOf, OneOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { badRequest, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import {
  announceMemberships,
  lockMember,
  lockOwners,
  placeOf,
  refuseLocked,
  remove,
  removeBelow,
} from '../members/index.ts'
import { BillableMember, billableMember, Membership, membership } from './entities.ts'
import * as store from './store.ts'

interface Services {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
  readonly plan: Plan
  readonly settings: Settings
}

/** Who takes a seat of a top-level group: its members, those of all below, and those of groups that were let in. */
export function billableMembers(services: Services): { endpoints: Endpoint[] } {
  const { db, externalUrl, plan } = services
  const above = levelsWithoutSeat(plan)
  const refuses = { 400: 'No top-level group, or no right to', 404: 'Nobody who takes a seat' }

  const requireBillable = async (group: GroupSubject, userId: number): Promise<void> => {
    const { exists, billable } = await store.standing(db.reader, group.id, userId, above)
    if (!exists) throw recordNotFound()
    if (!billable) throw notFound('User')
  }

  const memberships = (
    what: { path: 'memberships' | 'indirect'; summary: string },
    read: typeof store.direct,
  ): Endpoint =>
    endpoint({
      method: 'GET',
      path: `/groups/:id/billable_members/:user_id/${what.path}`,
      summary: what.summary,
      on: group,
      may: 'read_group_member',
      paged: true,
      params: Fields({ user_id: Id() }),
      answers: ListOf(Membership),
      refuses,
      read: ({ params, page }) => read(params.user_id, page),
      async handle({ actor, group, params, rows }) {
        requireTop(actor, group, 'admin_group_member')
        if (rows.length === 0 || what.path === 'memberships') await requireBillable(group, params.user_id)
        return rows.map((row) => membership(row, externalUrl()))
      },
    })

  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/groups/:id/billable_members',
        summary: 'List who takes a seat of a top-level group',
        on: group,
        may: 'read_group_member',
        paged: true,
        params: Fields({
          search: Optional(Text({ description: 'Part of the name or username, or a whole public address' })),
          sort: Optional(OneOf(store.orderNames, {})),
        }),
        answers: ListOf(BillableMember),
        refuses: { 400: refuses[400] },
        read: ({ params, page }) => store.list(params, above, page),
        async handle({ actor, group, rows }) {
          requireTop(actor, group, 'admin_group')
          return rows.map((row) => billableMember(row, actor, externalUrl()))
        },
      }),

      memberships(
        { path: 'memberships', summary: 'List the direct memberships of somebody who takes a seat' },
        store.direct,
      ),
      memberships(
        { path: 'indirect', summary: 'List the memberships that let somebody in from other groups' },
        store.indirect,
      ),

      endpoint({
        method: 'DELETE',
        path: '/groups/:id/billable_members/:user_id',
        whileArchived: true,
        summary: 'Take somebody out of a top-level group and all that lies below it',
        on: group,
        may: 'read_group_member',
        params: Fields({ user_id: Id() }),
        answers: null,
        refuses: { 400: 'No top-level group, no right to, no membership, or the last owner' },
        async handle({ actor, group, params }) {
          if (group.parentId !== null) throw badRequest('Invalid group provided, must be top-level')
          if (!may(actor, 'admin_group', group)) {
            throw badRequest('User unauthorized to remove member')
          }
          refuseLocked(services.settings, actor)
          const place = placeOf(group)
          await db.transaction(async (tx) => {
            await lockOwners(tx, place)
            const own = await lockMember(tx, place, params.user_id)
            if (own?.fixed === true) throw badRequest('The last owner cannot be removed')
            const gone = [
              ...(own === undefined ? [] : await remove(tx, own.id)),
              ...(await removeBelow(tx, group.id, params.user_id)),
            ]
            if (gone.length === 0) throw badRequest('No member found for the given user_id')
            await announceMemberships(
              services,
              tx,
              userOf(actor).id,
              gone.map((one) => ({ action: 'leave', ...one })),
            )
          })
        },
      }),
    ],
  }
}

/** Both refusals look the same (part 2 completions, 1.14). */
function requireTop(actor: Actor, group: GroupSubject, ability: 'admin_group' | 'admin_group_member'): void {
  if (group.parentId !== null || !may(actor, ability, group)) throw badRequest()
}
