import { sql } from '../../kernel/db/index.ts'
import { endpoint, instance } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Hash,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  OneOf,
  rows,
  Text,
  Timestamp,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'

const License = Fields({
  id: Int(),
  plan: OneOf('premium', 'ultimate'),
  created_at: Timestamp(),
  starts_at: DateOnly(),
  expires_at: Nullable(DateOnly()),
  historical_max: Int(),
  maximum_user_count: Int(),
  expired: Flag(),
  overage: Int(),
  user_limit: Int({ description: '0: any number' }),
  active_users: Int(),
  licensee: Hash(Text()),
  add_ons: Hash(Json()),
})

const Statistics = Fields(
  Object.fromEntries(
    [
      'forks',
      'issues',
      'merge_requests',
      'notes',
      'snippets',
      'ssh_keys',
      'milestones',
      'users',
      'projects',
      'groups',
      'active_users',
    ].map((name) => [name, Text({ description: 'With thousands separators' })]),
  ),
)

interface Seats {
  readonly active_users: number
  readonly created_at: Date | string
}

/** What is counted one by one; beyond it the database's own estimate is as good. */
const countedUpTo = 10_000

const activeUsers = sql`(select count(*) from users u where u.state = 'active' and u.kind = 'human')::int`

/** The rows of a table, exactly where there are few, else as the database last estimated. */
function about(
  table:
    'issues' | 'merge_requests' | 'notes' | 'snippets' | 'ssh_keys' | 'milestones' | 'users' | 'projects',
) {
  return sql`(
    select case when counted.few <= ${countedUpTo} then counted.few
      else greatest(counted.few, (select c.reltuples::bigint from pg_class c where c.oid = ${table}::regclass)) end
    from (select count(*) as few from (select from ${sql.table(table)} limit ${countedUpTo + 1}) found) counted)`
}

/** The number of the only license there is. */
const licenseId = 1
const fixed = 'The plan is a part of the configuration (`PLAN`) and not changed here.'

const readSeats = () =>
  rows<Seats>(
    sql`select ${activeUsers} as active_users, (select min(u.created_at) from users u) as created_at`,
  )

function licenseOf(plan: Exclude<Plan, 'free'>, { active_users, created_at }: Seats) {
  return {
    id: licenseId,
    plan,
    created_at,
    starts_at: new Date(created_at).toISOString().slice(0, 10),
    expires_at: null,
    historical_max: active_users,
    maximum_user_count: active_users,
    expired: false,
    overage: 0,
    user_limit: 0,
    active_users,
    licensee: {},
    add_ons: {},
  }
}

/** The plan that the configuration names, as clients know it, and how much there is on the instance. */
export function license({ plan }: { plan: Plan }): { endpoints: Endpoint[] } {
  const administrators = { on: instance, may: 'admin_instance' } as const
  const checkId = (id: number): void => {
    if (plan === 'free' || id !== licenseId) throw notFound('License')
  }
  return {
    endpoints: [
      endpoint({
        ...administrators,
        method: 'GET',
        path: '/license',
        summary: 'Get the plan of the instance as a license',
        description: 'The plan is a part of the configuration (`PLAN`); without a paid one there is `null`.',
        answers: Nullable(License),
        read: readSeats,
        handle: async ({ rows: [seats] }) => (plan === 'free' ? null : licenseOf(plan, seats!)),
      }),
      endpoint({
        ...administrators,
        method: 'GET',
        path: '/licenses',
        summary: 'List the plan of the instance as the only license',
        answers: ListOf(License),
        read: readSeats,
        handle: async ({ rows: [seats] }) => (plan === 'free' ? [] : [licenseOf(plan, seats!)]),
      }),
      endpoint({
        ...administrators,
        method: 'GET',
        path: '/license/:id',
        summary: 'Get a license',
        params: Fields({ id: Id() }),
        answers: License,
        refuses: { 404: 'There is no such license' },
        read: readSeats,
        async handle({ params: { id }, rows: [seats] }) {
          checkId(id)
          return licenseOf(plan as Exclude<Plan, 'free'>, seats!)
        },
      }),
      endpoint({
        ...administrators,
        method: 'POST',
        path: '/license',
        summary: 'Bring a license, which is refused',
        description: fixed,
        params: Fields({ license: Text() }),
        answers: License,
        refuses: { 400: 'Always' },
        handle: () => Promise.reject(invalid({ base: [`The license key is invalid. ${fixed}`] })),
      }),
      endpoint({
        ...administrators,
        method: 'DELETE',
        path: '/license/:id',
        summary: 'Remove a license, which is refused',
        description: fixed,
        params: Fields({ id: Id() }),
        answers: null,
        refuses: { 400: 'The plan stays', 404: 'There is no such license' },
        async handle({ params: { id } }) {
          checkId(id)
          throw invalid({ base: [fixed] })
        },
      }),
      endpoint({
        ...administrators,
        method: 'PUT',
        path: '/license/:id/refresh_billable_users',
        summary: 'Count who takes a seat anew',
        description: 'They are counted whenever it is asked, so there is nothing to do.',
        params: Fields({ id: Id() }),
        status: 202,
        answers: Fields({ success: Flag() }),
        refuses: { 404: 'There is no such license' },
        async handle({ params: { id } }) {
          checkId(id)
          return { success: true }
        },
      }),

      endpoint({
        method: 'GET',
        path: '/application/statistics',
        summary: 'Get how much there is on the instance',
        description: 'Large numbers are estimated.',
        on: instance,
        may: 'admin_instance',
        answers: Statistics,
        read: () =>
          rows<Record<string, number>>(sql`
            select
              (select count(*) from projects p where p.forked_from_id is not null)::int as forks,
              ${about('issues')} as issues, ${about('merge_requests')} as merge_requests, ${about('notes')} as notes,
              ${about('snippets')} as snippets, ${about('ssh_keys')} as ssh_keys,
              ${about('milestones')} as milestones, ${about('users')} as users, ${about('projects')} as projects,
              (select count(*) from namespaces n where n.kind = 'group')::int as groups,
              ${activeUsers} as active_users`),
        handle: async ({ rows: [counts] }) =>
          Object.fromEntries(
            Object.entries(counts!).map(([name, count]) => [name, count.toLocaleString('en-US')]),
          ),
      }),
    ],
  }
}
