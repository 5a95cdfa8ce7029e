import { endpoint, group, project } from '../../access/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  Timestamp,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { recordNotFound, refused } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import {
  accessLevel,
  circumstancesOf,
  faultsOf,
  isLocked,
  membershipOptions,
  placeOf,
  refuseChange,
  refuseFaults,
  refuseTouch,
  wishOf,
  type Place,
  refuseLocked,
  refuseNewcomers,
} from '../members/index.ts'
import { invite, nobodyOf, type InvitingServices } from './invite.ts'
import * as store from './store.ts'
import type { InvitationRow } from './store.ts'

const Invitation = Fields({
  id: Id(),
  invite_email: Text(),
  created_at: Timestamp(),
  access_level: Int(),
  expires_at: Nullable(DateOnly()),
  user_name: Nullable(Text({ description: 'Nobody has the address yet' })),
  created_by_name: Nullable(Text()),
  invite_email_success: Flag({
    description: 'False: the provider of mail says that its mail cannot be delivered',
  }),
})

const entity = (row: InvitationRow) => ({ ...row, user_name: null })

const Invited = Fields({
  status: OneOf('success', 'error'),
  message: Optional(Json({ description: 'Faults by address, or one sentence' })),
})

interface Services extends InvitingServices {
  readonly paid: boolean
  readonly customRoles: boolean
  readonly settings: Settings
}

export function invitationEndpoints(kind: Place['kind'], services: Services): Endpoint[] {
  const { db, paid, customRoles, settings } = services
  const on = kind === 'group' ? group : project
  const may = kind === 'group' ? 'admin_group_member' : 'admin_project_member'
  const email = Text({ description: 'The address that was invited' })

  return [
    endpoint({
      method: 'POST',
      path: `/${kind}s/:id/invitations`,
      summary: `Invite addresses into a ${kind}`,
      description: 'Whoever has an address here is a member at once, the others when they sign up.',
      on,
      may,
      params: Fields({
        email: Optional(Text({ description: 'An address, or several separated by commas' })),
        user_id: Optional(Text({ description: 'Id of a user, or several' })),
        access_level: accessLevel,
        ...membershipOptions,
        invite_source: Optional(Text({ description: 'Where the invitation comes from' })),
      }),
      rules: { atLeastOneOf: [['email', 'user_id']] },
      answers: Invited,
      refuses: { 405: 'The group keeps its projects from having members' },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        const place = placeOf(subject)
        refuseNewcomers(settings, actor, subject)
        if (await isLocked(db.reader, place)) throw refused(405, '405 Method Not Allowed')
        const invitation = {
          actor,
          place,
          name: subject.name,
          wish: await wishOf(db.reader, params, customRoles),
          circumstances: circumstancesOf(place, paid),
        }
        const userIds = (params.user_id ?? '').split(',').filter((id) => id.trim() !== '')
        return invite(services, invitation, (params.email ?? '').split(','), userIds)
      },
    }),

    endpoint({
      method: 'GET',
      path: `/${kind}s/:id/invitations`,
      summary: `List the open invitations into a ${kind}`,
      on,
      may,
      paged: true,
      params: Fields({ query: Optional(Text({ description: 'A whole address' })) }),
      answers: ListOf(Invitation),
      read: ({ params, page }) => store.list(kind, params.query, page),
      handle: async ({ rows }) => rows.map(entity),
    }),

    endpoint({
      method: 'PUT',
      path: `/${kind}s/:id/invitations/:email`,
      summary: `Change an invitation into a ${kind}`,
      on,
      may,
      params: Fields({ email, access_level: Optional(accessLevel), ...membershipOptions }),
      rules: { atLeastOneOf: [['access_level', 'expires_at']] },
      answers: Invitation,
      refuses: { 404: 'No such invitation' },
      async handle(call) {
        const { actor, params } = call
        if (kind === 'group') refuseLocked(settings, actor)
        const place = placeOf(kind === 'group' ? call.group : call.project)
        return db.transaction(async (tx) => {
          const before = await store.lock(tx, place, params.email)
          if (before === undefined) throw recordNotFound()
          const wish = await wishOf(tx, params, customRoles, before)
          refuseChange(actor, place, before, wish)
          const nobody = nobodyOf(params.email, { ...before, fixed: false })
          refuseFaults(faultsOf(wish, nobody, circumstancesOf(place, paid)))
          return entity(await store.change(tx, before.id, wish))
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `/${kind}s/:id/invitations/:email`,
      summary: `Take back an invitation into a ${kind}`,
      on,
      may,
      params: Fields({ email }),
      answers: null,
      refuses: { ...whenChanged, 404: 'No such invitation' },
      async handle(call) {
        if (kind === 'group') refuseLocked(settings, call.actor)
        const place = placeOf(kind === 'group' ? call.group : call.project)
        await db.transaction(async (tx) => {
          const before = await store.lock(tx, place, call.params.email)
          if (before === undefined) throw recordNotFound()
          refuseTouch(call.actor, place, before.access_level)
          requireUnmodified(call.request, before.updated_at)
          await store.remove(tx, before.id)
        })
      },
    }),
  ]
}
