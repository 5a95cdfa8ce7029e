import { endpoint, instance, userOf } from '../../../access/index.ts'
import {
  Either,
  Fields,
  Id,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import type { UserServices } from '../services.ts'
import {
  clearAfter,
  findStatus,
  setStatus,
  Status,
  statusEntity,
  statusOf,
  type ClearAfter,
} from '../status.ts'

const params = Fields({
  emoji: Optional(Nullable(Text({ description: 'speech_balloon, when only the rest is said' }))),
  message: Optional(Nullable(Text({ description: 'At most 100 characters' }))),
  availability: Optional(Nullable(OneOf('not_set', 'busy'))),
  clear_status_after: Optional(Nullable(OneOf(Object.keys(clearAfter) as ClearAfter[], {}))),
})

/** What people say that they are at. */
export function statusEndpoints({ db }: UserServices): Endpoint[] {
  const changing = (method: 'PUT' | 'PATCH', summary: string): Endpoint =>
    endpoint({
      method,
      path: '/user/status',
      summary,
      on: instance,
      may: 'read_instance',
      params,
      answers: Status,
      refuses: { 400: 'No emoji of that name, or too long a message' },
      async handle({ actor, params: sent }) {
        const { id } = userOf(actor)
        return db.transaction(async (tx) => {
          await setStatus(tx, id, sent, method === 'PUT' ? undefined : await findStatus(tx, id))
          return statusEntity(await findStatus(tx, id))
        })
      },
    })
  return [
    endpoint({
      method: 'GET',
      path: '/users/:user_id/status',
      summary: 'Get the status of a user',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      params: Fields({ user_id: Either(Id(), Text({ description: 'Username' })) }),
      answers: Status,
      refuses: { 404: 'No such user' },
      read: ({ params: { user_id: id } }) => statusOf(id),
      async handle({ rows: [row] }) {
        if (row === undefined) throw notFound('User')
        return statusEntity(row)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/user/status',
      summary: 'Get the own status',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      answers: Status,
      read: () => statusOf(),
      handle: async ({ rows: [row] }) => statusEntity(row!),
    }),

    changing('PUT', 'Set the own status; what is left out is taken away'),
    changing('PATCH', 'Change the own status; what is left out stays'),
  ]
}
