import { endpoint, group, project, userOf } from '../../../access/index.ts'
import type { Database } from '../../../kernel/db/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, recordNotFound } from '../../../kernel/errors/index.ts'
import type { Settings } from '../../../settings/index.ts'
import { enqueue, type Events } from '../../../tasks/index.ts'
import { addOne, addSeveral, type Addition } from '../add.ts'
import { Member, memberEntity, Outcome } from '../entities.ts'
import { refuseLocked, refuseNewcomers } from '../lock.ts'
import { announceMemberships, newsPlace } from '../news.ts'
import { accessLevel, membershipOptions, wishOf } from '../params.ts'
import { placeOf, requireAdministration, type Place } from '../place.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'
import { unassignTask, type Unassignment } from '../unassign.ts'

interface Services {
  readonly db: Database
  readonly events: Events
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly paid: boolean
  readonly customRoles: boolean
}

export function writingEndpoints(kind: Place['kind'], services: Services): Endpoint[] {
  const { db, settings, paid, customRoles } = services
  const on = kind === 'group' ? group : project
  const may = kind === 'group' ? 'admin_group_member' : 'admin_project_member'
  const member = memberEntity(services)
  const circumstances = (place: Place) => rules.circumstancesOf(place, paid)

  return [
    endpoint({
      method: 'POST',
      path: `/${kind}s/:id/members`,
      summary: `Add members to a ${kind}`,
      description: 'Several, separated by commas, get one answer: what went well is kept.',
      on,
      may,
      params: Fields({
        user_id: Optional(Text({ description: 'Id of a user, or several' })),
        username: Optional(Text({ description: 'Name of a user, or several' })),
        access_level: accessLevel,
        ...membershipOptions,
        invite_source: Optional(Text({ description: 'Where the invitation comes from' })),
      }),
      rules: { mutuallyExclusive: [['user_id', 'username']], atLeastOneOf: [['user_id', 'username']] },
      answers: Either(Member, Outcome),
      refuses: { 405: 'The group keeps its projects from having members', 409: 'Already a member' },
      async handle(call) {
        const { params } = call
        const subject = kind === 'group' ? call.group : call.project
        refuseNewcomers(settings, call.actor, subject)
        const place = placeOf(subject)
        const named = params.user_id ?? params.username ?? ''
        const addition: Addition = {
          actor: call.actor,
          place,
          wish: await wishOf(db.reader, params, customRoles),
          circumstances: circumstances(place),
        }
        const by = params.user_id === undefined ? 'username' : 'id'
        return named.includes(',')
          ? addSeveral(services, addition, by, named.split(','))
          : member(await addOne(services, addition, by, named))
      },
    }),

    endpoint({
      method: 'PUT',
      path: `/${kind}s/:id/members/:user_id`,
      summary: `Change a member of a ${kind}`,
      on,
      may,
      params: Fields({ user_id: Id(), access_level: accessLevel, ...membershipOptions }),
      answers: Member,
      refuses: { 403: 'The last owner', 404: 'No direct member' },
      async handle(call) {
        const { actor, params } = call
        if (kind === 'group') refuseLocked(settings, actor)
        const place = placeOf(kind === 'group' ? call.group : call.project)
        return db.transaction(async (tx) => {
          await store.lockOwners(tx, place)
          const before = await store.lockMember(tx, place, params.user_id)
          if (before === undefined) throw recordNotFound()
          if (before.fixed || before.kept) throw forbidden()
          const wish = await wishOf(tx, params, customRoles, before)
          rules.refuseChange(actor, place, before, wish)
          const [candidate] = await store.candidates(tx, place, { ids: [params.user_id] })
          if (candidate === undefined) throw recordNotFound()
          rules.refuseFaults(rules.faultsOf(wish, candidate, circumstances(place)))
          await announceMemberships(services, tx, userOf(actor).id, [
            {
              action: 'update',
              memberId: params.user_id,
              ...newsPlace(place),
              accessLevel: wish.accessLevel,
              expiresAt: wish.expiresAt,
              before: { accessLevel: before.access_level, expiresAt: before.expires_at },
            },
          ])
          return member(await store.change(tx, before.id, wish))
        })
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `/${kind}s/:id/members/:user_id`,
      whileArchived: true,
      summary: `Remove a member from a ${kind}, or leave it`,
      on,
      may: 'leave',
      params: Fields({
        user_id: Id(),
        skip_subresources: Optional(
          Flag({ description: 'Keep direct memberships in what lies below the group' }),
        ),
        unassign_issuables: Optional(Flag({ description: 'Take the user off issues and merge requests' })),
      }),
      answers: null,
      refuses: {
        403: 'The last owner',
        404: 'No direct member',
        ...whenChanged,
      },
      async handle(call) {
        const { actor, params } = call
        const subject = kind === 'group' ? call.group : call.project
        const place = placeOf(subject)
        const leaves = userOf(actor).id === params.user_id
        if (!leaves) requireAdministration(actor, subject)
        if (kind === 'group' && !leaves) refuseLocked(settings, actor)
        await db.transaction(async (tx) => {
          await store.lockOwners(tx, place)
          const before = await store.lockMember(tx, place, params.user_id)
          if (before === undefined) {
            // Who has only asked to come in is told no, or takes it back.
            if (!(await store.removeRequest(tx, place, params.user_id))) throw recordNotFound()
            return announceMemberships(services, tx, userOf(actor).id, [
              { action: leaves ? 'withdraw' : 'deny', memberId: params.user_id, ...newsPlace(place) },
            ])
          }
          if (before.fixed) throw forbidden()
          if (!leaves) rules.refuseTouch(actor, place, before.access_level)
          requireUnmodified(call.request, before.updated_at)
          const whole = params.skip_subresources !== true
          const gone = [
            ...(await store.remove(tx, before.id)),
            ...(kind === 'group' && whole ? await store.removeBelow(tx, place.id, params.user_id) : []),
          ]
          if (whole) await store.removeInvitationsOf(tx, place, params.user_id)
          await announceMemberships(
            services,
            tx,
            userOf(actor).id,
            gone.map((one) => ({ action: 'leave', ...one })),
          )
          if (params.unassign_issuables === true) {
            const unassignment: Unassignment = { userId: params.user_id, kind, placeId: place.id }
            await enqueue(tx, unassignTask, unassignment)
          }
        })
      },
    }),
  ]
}
