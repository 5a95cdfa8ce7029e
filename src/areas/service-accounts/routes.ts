import { endpoint, group, instance, userOf, type GroupSubject } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { removeUserById } from '../users/index.ts'
import { serviceAccount, ServiceAccount } from './entities.ts'
import type { ServiceAccountServices } from './index.ts'
import * as store from './store.ts'
import { changeServiceAccount, createServiceAccount } from './write.ts'

const order = {
  order_by: OneOf(['id', 'username'], { default: 'id' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}
const named = {
  name: Optional(Text()),
  username: Optional(Text()),
  email: Optional(Text({ description: 'Has to be confirmed, where the instance wants that of its users' })),
}
const record = 'User'
const refuses = { 404: 'No such service account' }

/** Those of the instance; their tokens are made as those of any user. */
export function instanceEndpoints(services: ServiceAccountServices): Endpoint[] {
  const about = {
    on: instance,
    may: 'admin_users',
    plan: planOf.service_accounts,
    path: '/service_accounts',
  } as const
  return [
    endpoint({
      ...about,
      method: 'GET',
      summary: 'List the service accounts of the instance',
      paged: true,
      params: Fields(order),
      answers: ListOf(ServiceAccount),
      read: ({ params, page }) => store.list('instance', params, page),
      handle: async ({ rows }) => rows.map(serviceAccount),
    }),

    endpoint({
      ...about,
      method: 'POST',
      summary: 'Create a service account of the instance',
      description: 'A user for a machine: it has tokens and memberships, and cannot sign in.',
      params: Fields(named),
      answers: ServiceAccount,
      handle: async ({ actor, params }) =>
        serviceAccount(await createServiceAccount(services, null, userOf(actor), params)),
    }),

    endpoint({
      ...about,
      method: 'PATCH',
      path: '/service_accounts/:user_id',
      summary: 'Change a service account of the instance',
      params: Fields({ user_id: Id(), ...named }),
      record,
      answers: ServiceAccount,
      refuses,
      read: ({ params }) => store.one('instance', params.user_id),
      handle: async ({ rows: [row], params }) =>
        serviceAccount(await changeServiceAccount(services, null, row!, params)),
    }),
  ]
}

/** Those of a top-level group. */
export function groupEndpoints(services: ServiceAccountServices): Endpoint[] {
  const about = {
    on: group,
    may: 'admin_service_account',
    plan: planOf.service_accounts,
    path: '/groups/:id/service_accounts',
  } as const
  const single = {
    ...about,
    path: '/groups/:id/service_accounts/:user_id',
    record,
    read: ({ params }: { params: { user_id: number } }) => store.one('group', params.user_id),
  } as const
  return [
    endpoint({
      ...about,
      method: 'GET',
      summary: 'List the service accounts of a top-level group',
      paged: true,
      params: Fields(order),
      answers: ListOf(ServiceAccount),
      refuses: { 400: 'No top-level group' },
      read: ({ params, page }) => store.list('group', params, page),
      async handle({ group: place, rows }) {
        requireTop(place)
        return rows.map(serviceAccount)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      summary: 'Create a service account of a top-level group',
      description: 'It is no member of the group until somebody makes it one.',
      params: Fields(named),
      answers: ServiceAccount,
      refuses: { 400: 'No top-level group, or a rule is broken' },
      async handle({ actor, group: place, params }) {
        requireTop(place)
        return serviceAccount(await createServiceAccount(services, place.id, userOf(actor), params))
      },
    }),

    endpoint({
      ...single,
      method: 'PATCH',
      summary: 'Change a service account of a group',
      params: Fields({ user_id: Id(), ...named }),
      answers: ServiceAccount,
      refuses,
      handle: async ({ group: place, rows: [row], params }) =>
        serviceAccount(await changeServiceAccount(services, place.id, row!, params)),
    }),

    endpoint({
      ...single,
      method: 'DELETE',
      summary: 'Delete a service account of a group',
      description: 'What it did is left to the user `ghost`, or goes with `hard_delete`.',
      params: Fields({ user_id: Id(), hard_delete: Optional(Flag()) }),
      answers: null,
      refuses: { ...refuses, 409: 'It is the only owner of a group' },
      async handle({ rows: [row], params }) {
        const hard = params.hard_delete === true
        await services.db.transaction((tx) => removeUserById(tx, row!.id, services, { hard }))
      },
    }),
  ]
}

export function requireTop({ parentId }: GroupSubject): void {
  if (parentId !== null) throw badRequest('Group is not a top-level group')
}
