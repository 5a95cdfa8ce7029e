import { sql, type RawBuilder } from 'kysely'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { MemberRow } from './entities.ts'
import { placeColumn, type Place } from './place.ts'

/*
 * Reads of memberships, made in the statement that finds out about the caller: `subject` is the group or project.
 */

const shown = sql`u.id, u.username, u.public_email, u.name, u.state`

const creator = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select ${basicUserJson('c')} from users c where c.id = ${id}) as created_by`

const columns = sql`
  ${shown}, m.access_level, m.created_at, m.expires_at, m.state as membership_state,
  ${creator(sql`m.created_by_id`)}`

const unexpired = sql`(m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`

export interface Filters {
  readonly query?: string | undefined
  readonly user_ids?: readonly number[] | undefined
  readonly skip_users?: readonly number[] | undefined
  readonly state?: 'active' | 'awaiting' | undefined
}

function userConditions({ query, user_ids: only, skip_users: without }: Filters): RawBuilder<unknown> {
  const text = query === undefined ? '' : searched(query)
  return sql.join(
    [
      sql`true`,
      ...(text === ''
        ? []
        : [
            sql`(position(lower(${text}) in lower(u.name)) > 0 or position(lower(${text}) in lower(u.username)) > 0
              or lower(u.public_email) = lower(${text}))`,
          ]),
      ...(only === undefined ? [] : [sql`u.id = any (${only}::bigint[])`]),
      ...(without === undefined ? [] : [sql`u.id <> all (${without}::bigint[])`]),
    ],
    sql` and `,
  )
}

function searched(query: string): string {
  return query.replace(/^@/, '')
}

/** With a query: equal public address, username, name, then the others by name. */
function order({ query }: Filters, usual: RawBuilder<unknown>): RawBuilder<unknown> {
  const text = query === undefined ? '' : searched(query)
  return text === ''
    ? usual
    : sql`
        case when lower(u.public_email) = lower(${text}) then 0 when lower(u.username) = lower(${text}) then 1
          when lower(u.name) = lower(${text}) then 2 else 3 end, u.name, u.id`
}

/** Rows of the place itself. */
export function direct(kind: Place['kind'], filters: Filters, input: PageInput): Read<MemberRow> {
  return page(
    {
      columns,
      from: sql`
        from members m join users u on u.id = m.user_id
        where ${placeColumn(kind)} = subject.id and ${unexpired} and ${userConditions(filters)}`,
      order: order(filters, sql`m.id`),
    },
    input,
  )
}

export function oneDirect(kind: Place['kind'], userId: number): Read<MemberRow> {
  return rows(sql`
    select ${columns} from members m join users u on u.id = m.user_id
    where m.user_id = ${userId} and ${placeColumn(kind)} = subject.id and ${unexpired}`)
}

/** Everybody who belongs to the place in any way, once. */
export function all(kind: Place['kind'], filters: Filters, input: PageInput): Read<MemberRow> {
  return page(
    {
      columns: sql`
        ${shown}, w.access_level, w.created_at, w.expires_at, w.state as membership_state,
        ${creator(sql`w.created_by_id`)}`,
      from: sql`
        from (${winners(kind, filters.state)}) w join users u on u.id = w.user_id where ${userConditions(filters)}`,
      order: order(filters, sql`u.id`),
    },
    input,
  )
}

export function oneOfAll(kind: Place['kind'], userId: number): Read<MemberRow> {
  return rows(sql`
    select ${shown}, w.access_level, w.created_at, w.expires_at, w.state as membership_state,
      ${creator(sql`w.created_by_id`)}
    from (${winners(kind, undefined)}) w join users u on u.id = w.user_id where u.id = ${userId}`)
}

/**
 * One row a user (part 2 completions, 1.6): of a group the row with the highest level, and among equals its own; of a
 * project its own row, but always with the highest level.
 */
function winners(kind: Place['kind'], state: Filters['state']): RawBuilder<unknown> {
  const project = kind === 'project' ? sql`subject.id` : sql`null::bigint`
  const active = sql`
    select m.member_id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id,
      m.created_at, 'active' as state
    from effective_memberships(subject.line, ${project}) m`
  // Who waits for a seat has no access, and is in no list of those who have.
  const awaiting = sql`
    select m.id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id, m.created_at,
      m.state
    from members m
    where (m.namespace_id = any (subject.line) or m.project_id = ${project}) and m.state = 'awaiting' and ${unexpired}`
  const source =
    state === 'active' ? active : state === 'awaiting' ? awaiting : sql`${active} union all ${awaiting}`
  const own = kind === 'group' ? sql`s.namespace_id = subject.id` : sql`s.project_id = subject.id`
  const first =
    kind === 'group'
      ? sql`s.access_level desc, (${own}) desc nulls last`
      : sql`(${own}) desc nulls last, s.access_level desc`
  return sql`
    select distinct on (s.user_id) s.user_id, max(s.access_level) over (partition by s.user_id) as access_level,
      s.created_at, s.expires_at, s.created_by_id, s.state
    from (${source}) s
    order by s.user_id, s.state, ${first}, s.expires_at desc nulls first, s.created_at`
}
