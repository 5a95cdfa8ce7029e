import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { endpoint, group, instance, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import {
  DateTime,
  Fields,
  Id,
  Json,
  ListOf,
  OneOf,
  Optional,
  page,
  rows,
  Text,
  Timestamp,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'

export { recordAuditEvent, type AuditEvent } from './record.ts'

const Event = Fields({
  id: Id(),
  author_id: Id(),
  entity_id: Id(),
  entity_type: Text({ description: '`User`, `Group` or `Project`' }),
  event_name: Text(),
  details: Json({ description: 'In words, and who and what it was by name' }),
  created_at: Timestamp(),
})

interface EventRow {
  readonly id: number
  readonly author_id: number
  readonly entity_id: number
  readonly entity_type: string
  readonly event_name: string
  readonly details: object
  readonly created_at: Date | string
}

interface Times {
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
}

const columns = sql`e.id, e.author_id, e.entity_id, e.entity_type, e.event_name, e.details, e.created_at`
const times = { created_after: Optional(DateTime()), created_before: Optional(DateTime()) }

function list(
  conditions: readonly RawBuilder<unknown>[],
  { created_after: after, created_before: before }: Times,
  input: PageInput,
): Read<EventRow> {
  const all = [
    ...conditions,
    ...(after === undefined ? [] : [sql`e.created_at >= ${after}`]),
    ...(before === undefined ? [] : [sql`e.created_at < ${before}`]),
  ]
  const chosen = all.length === 0 ? sql`` : sql`where ${sql.join(all, sql` and `)}`
  return page({ columns, from: sql`from audit_events e ${chosen}`, order: sql`e.id desc` }, input)
}

const one = (id: number, more: RawBuilder<unknown> = sql``): Read<EventRow> =>
  rows(sql`select ${columns} from audit_events e where e.id = ${id} ${more}`)

const places = {
  project: { on: project, may: 'admin_project', path: '/projects/:id/audit_events', type: 'Project' },
  group: { on: group, may: 'admin_group', path: '/groups/:id/audit_events', type: 'Group' },
} as const

function ofPlace(kind: keyof typeof places): Endpoint[] {
  const { on, may, path, type } = places[kind]
  const about = { on, may, plan: planOf.audit_events } as const
  const here = sql`e.entity_type = ${type} and e.entity_id = subject.id`
  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: `List what was done with a ${kind} that is of interest later`,
      paged: true,
      params: Fields(times),
      answers: ListOf(Event),
      read: ({ params, page: input }) => list([here], params, input),
      handle: async ({ rows: found }) => found,
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/:audit_event_id`,
      summary: `Get one thing that was done with a ${kind}`,
      params: Fields({ audit_event_id: Id() }),
      record: 'Audit Event',
      answers: Event,
      read: ({ params }) => one(params.audit_event_id, sql`and ${here}`),
      handle: async ({ rows: [row] }) => row!,
    }),
  ] as Endpoint[]
}

/** What was done that is of interest later: for now that projects and groups were written to files, and these fetched. */
export function auditEvents(): { endpoints: Endpoint[] } {
  const about = { on: instance, may: 'admin_instance', plan: planOf.audit_events } as const
  return {
    endpoints: [
      endpoint({
        ...about,
        method: 'GET',
        path: '/audit_events',
        summary: 'List what was done on the instance that is of interest later',
        paged: true,
        params: Fields({
          ...times,
          entity_type: Optional(OneOf('User', 'Group', 'Project')),
          entity_id: Optional(Id({ description: 'With `entity_type` only' })),
        }),
        answers: ListOf(Event),
        read({ params: { entity_type: type, entity_id: id, ...when }, page: input }) {
          const conditions = [
            ...(type === undefined ? [] : [sql`e.entity_type = ${type}`]),
            ...(type === undefined || id === undefined ? [] : [sql`e.entity_id = ${id}`]),
          ]
          return list(conditions, when, input)
        },
        handle: async ({ rows: found }) => found,
      }),
      endpoint({
        ...about,
        method: 'GET',
        path: '/audit_events/:id',
        summary: 'Get one thing that was done on the instance',
        params: Fields({ id: Id() }),
        record: 'Audit Event',
        answers: Event,
        read: ({ params }) => one(params.id),
        handle: async ({ rows: [row] }) => row!,
      }),
      ...ofPlace('project'),
      ...ofPlace('group'),
    ],
  }
}
