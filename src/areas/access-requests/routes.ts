import { endpoint, group, project, Role, userOf } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Fields, Id, Int, ListOf, Timestamp, type Endpoint } from '../../kernel/endpoint/index.ts'
import { forbidden, recordNotFound } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import {
  addOne,
  announceMemberships,
  circumstancesOf,
  Member,
  memberEntity,
  newsPlace,
  placeOf,
  refuseGrant,
  refuseNewcomers,
  requireAdministration,
  type Place,
} from '../members/index.ts'
import { basicUser, BasicUser } from '../users/index.ts'
import * as store from './store.ts'
import type { RequestRow } from './store.ts'

interface Services {
  readonly db: Database
  readonly events: Events
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly paid: boolean
}

const Requester = Fields({ ...BasicUser.properties, requested_at: Timestamp() })

export function accessRequestEndpoints(kind: Place['kind'], services: Services): Endpoint[] {
  const { db, settings, externalUrl, paid } = services
  const on = kind === 'group' ? group : project
  const administer = kind === 'group' ? 'admin_group_member' : 'admin_project_member'
  const signedIn = kind === 'group' ? 'read_group_member' : 'read_project_member'
  const requester = (row: RequestRow) => ({
    ...basicUser(row, externalUrl()),
    requested_at: row.requested_at,
  })
  const member = memberEntity(services)

  return [
    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/access_requests`,
      summary: `List who asks to be let into a ${kind}`,
      on,
      may: administer,
      paged: true,
      answers: ListOf(Requester),
      read: ({ page }) => store.list(kind, page),
      handle: async ({ rows }) => rows.map(requester),
    }),

    endpoint({
      method: 'POST',
      path: `/${kind}s/:id/access_requests`,
      summary: `Ask to be let into a ${kind}`,
      on,
      may: signedIn,
      answers: Requester,
      refuses: { 400: 'Asked already', 403: 'Nobody may ask, or the caller is a member' },
      async handle(call) {
        const subject = kind === 'group' ? call.group : call.project
        if (subject.settings['request_access_enabled'] === false || subject.role >= Role.guest) {
          throw forbidden()
        }
        const { id } = userOf(call.actor)
        const place = placeOf(subject)
        return db.transaction(async (tx) => {
          const request = await store.insert(tx, place, id)
          await announceMemberships(services, tx, id, [
            { action: 'request', memberId: id, ...newsPlace(place) },
          ])
          return requester(request)
        })
      },
    }),

    endpoint({
      method: 'PUT',
      path: `/${kind}s/:id/access_requests/:user_id/approve`,
      summary: `Let somebody into a ${kind} who asked for it`,
      on,
      may: administer,
      status: 201,
      params: Fields({
        user_id: Id(),
        access_level: Int({ default: Role.developer, description: 'The level of the new member' }),
      }),
      answers: Member,
      refuses: { 404: 'No such request', 405: 'The group keeps its projects from having members' },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        const place = placeOf(subject)
        if (!(await store.exists(db.reader, place, params.user_id))) throw recordNotFound()
        refuseNewcomers(settings, actor, subject)
        const wish = { accessLevel: params.access_level, expiresAt: null }
        refuseGrant(actor, place, wish)
        const addition = { actor, place, wish, circumstances: circumstancesOf(place, paid) }
        return member(await addOne(services, addition, 'id', String(params.user_id)))
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `/${kind}s/:id/access_requests/:user_id`,
      whileArchived: true,
      summary: `Refuse somebody who asks to be let into a ${kind}, or take the own request back`,
      on,
      may: signedIn,
      params: Fields({ user_id: Id() }),
      answers: null,
      refuses: { 404: 'No such request' },
      async handle(call) {
        const subject = kind === 'group' ? call.group : call.project
        const caller = userOf(call.actor).id
        const memberId = call.params.user_id
        if (caller !== memberId) requireAdministration(call.actor, subject)
        const place = placeOf(subject)
        await db.transaction(async (tx) => {
          if (!(await store.remove(tx, place, memberId))) throw recordNotFound()
          const action = caller === memberId ? 'withdraw' : 'deny'
          await announceMemberships(services, tx, caller, [{ action, memberId, ...newsPlace(place) }])
        })
      },
    }),
  ]
}
