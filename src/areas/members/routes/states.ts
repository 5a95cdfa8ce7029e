import { endpoint, group, may, userOf, type Actor, type GroupSubject } from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import type { Database } from '../../../kernel/db/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { badRequest, notFound, recordNotFound, unprocessable } from '../../../kernel/errors/index.ts'
import type { Settings } from '../../../settings/index.ts'
import * as lists from '../lists.ts'
import { refuseLocked } from '../lock.ts'
import { placeOf } from '../place.ts'
import * as store from '../store.ts'
import { avatarUrl } from '../../avatars/index.ts'

interface Services {
  readonly db: Database
  readonly externalUrl: () => string
  readonly settings: Settings
}

const Pending = Fields({
  id: Id({ description: 'Id of the membership' }),
  name: Nullable(Text()),
  username: Nullable(Text()),
  email: Text(),
  web_url: Nullable(Text()),
  avatar_url: Nullable(Text()),
  approved: Flag(),
  invited: Flag(),
})

/** Memberships that wait for a seat, looked after in the top-level group. */
export function stateEndpoints({ db, externalUrl, settings }: Services): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: '/groups/:id/members/:user_id/state',
      summary: 'Let all memberships of a user in a top-level group wait, or make them active',
      description: 'Those in subgroups and projects too.',
      on: group,
      may: 'read_group_member',
      plan: planOf.waiting_members,
      params: Fields({ user_id: Id(), state: OneOf(['awaiting', 'active'], {}) }),
      answers: Either(Fields({ success: Flag() })),
      refuses: { 400: 'No top-level group, or no right to', 404: 'No such user', 422: 'It cannot be done' },
      async handle({ actor, group, params }) {
        const [user] = await store.candidates(db.reader, placeOf(group), { ids: [params.user_id] })
        if (user === undefined) throw notFound('User')
        requireTop(actor, group)
        refuseLocked(settings, actor)
        if (params.state === 'awaiting' && userOf(actor).id === params.user_id) {
          throw unprocessable('You cannot set yourself to awaiting')
        }
        await db.transaction(async (tx) => {
          const place = placeOf(group)
          await store.lockOwners(tx, place)
          const own = await store.lockMember(tx, place, params.user_id)
          if (params.state === 'awaiting' && own?.fixed === true) {
            throw unprocessable('The last owner cannot be set to awaiting')
          }
          const changed = await store.setState(tx, group.id, params.user_id, params.state)
          if (changed === 0) throw unprocessable('No memberships found')
        })
        return { success: true }
      },
    }),

    endpoint({
      method: 'GET',
      path: '/groups/:id/pending_members',
      summary: 'List who waits for a seat of a top-level group, or was invited',
      on: group,
      may: 'read_group_member',
      plan: planOf.waiting_members,
      paged: true,
      answers: ListOf(Pending),
      refuses: { 400: 'No top-level group, or no right to' },
      read: ({ page }) => lists.pending(page),
      async handle({ actor, group, rows }) {
        requireTop(actor, group)
        return rows.map((row) => ({
          ...row,
          web_url: row.username === null ? null : `${externalUrl()}/${row.username}`,
          avatar_url: avatarUrl(row.avatar, externalUrl()),
        }))
      },
    }),

    endpoint({
      method: 'PUT',
      path: '/groups/:id/members/:member_id/approve',
      summary: 'Give a seat to a membership that waits',
      on: group,
      may: 'read_group_member',
      plan: planOf.waiting_members,
      status: 204,
      params: Fields({ member_id: Id({ description: 'Id of the membership' }) }),
      answers: null,
      refuses: { 400: 'No top-level group, or no right to', 404: 'No such membership' },
      async handle({ actor, group, params }) {
        requireTop(actor, group)
        refuseLocked(settings, actor)
        const userId = await store.userOfMembership(db.reader, group.id, params.member_id)
        if (userId === undefined) throw recordNotFound()
        await db.transaction((tx) => store.setState(tx, group.id, userId, 'active'))
      },
    }),

    endpoint({
      method: 'POST',
      path: '/groups/:id/members/approve_all',
      summary: 'Give a seat to all memberships that wait',
      on: group,
      may: 'read_group_member',
      plan: planOf.waiting_members,
      status: 204,
      answers: null,
      refuses: { 400: 'No top-level group, or no right to' },
      async handle({ actor, group }) {
        requireTop(actor, group)
        refuseLocked(settings, actor)
        await db.transaction((tx) => store.activateAll(tx, group.id))
      },
    }),
  ]
}

/** Both refusals look the same (part 2 completions, 1.9). */
function requireTop(actor: Actor, group: GroupSubject): void {
  if (group.parentId !== null || !may(actor, 'admin_group', group)) throw badRequest()
}
