import { endpoint, findUser, instance, project } from '../../access/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import {
  DateOnly,
  Either,
  Fields,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { actions, Event, event, type ActivityRow } from './entities.ts'
import type { ActivityServices } from './index.ts'
import { list, targets } from './store.ts'

const filter = {
  action: Optional(OneOf([...actions], { description: 'What was done' })),
  target_type: Optional(OneOf([...targets], { description: 'What it was done to' })),
  before: Optional(DateOnly({ description: 'Done before that day' })),
  after: Optional(DateOnly({ description: 'Done after that day' })),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}
const about = { method: 'GET', paged: true, answers: ListOf(Event) } as const

/** What people did, as far as the caller sees what they did it to. */
export function activityEndpoints({ db, externalUrl }: ActivityServices): Endpoint[] {
  const show = (rows: readonly ActivityRow[]) => rows.map((row) => event(row, externalUrl()))
  return [
    endpoint({
      ...about,
      path: '/events',
      summary: 'List what the caller did',
      on: instance,
      may: 'read_instance',
      scopes: ['read_user'],
      params: Fields({
        ...filter,
        scope: Optional(OneOf(['all'], { description: 'What anybody did in the caller’s projects' })),
      }),
      read: ({ params, page }) => list(params.scope === 'all' ? 'of own projects' : 'own', params, page),
      handle: async ({ rows }) => show(rows),
    }),

    endpoint({
      ...about,
      path: '/users/:id/events',
      summary: 'List what a user did',
      description: 'Of a private profile only for the user himself and for administrators.',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      params: Fields({ id: Either(Id(), Text({ description: 'Username' })), ...filter }),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => list({ user: String(params.id) }, params, page),
      async handle({ rows, params }) {
        if (rows.length === 0 && (await findUser(db.reader, String(params.id))) === undefined)
          throw notFound('User')
        return show(rows)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/events',
      summary: 'List what was done in a project',
      on: project,
      may: 'read_project',
      anonymous: true,
      params: Fields(filter),
      read: ({ params, page }) => list('of project', params, page),
      handle: async ({ rows }) => show(rows),
    }),
  ]
}
