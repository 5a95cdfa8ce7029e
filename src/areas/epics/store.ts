import type { RawBuilder } from 'kysely'
import { actorRow, epicVisible, epicVisibleAnywhere, type Actor } from '../../access/index.ts'
import { nextIid, plannedByValues, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { labelRows, labelTitles, withLabels, withoutLabels } from '../labels/index.ts'
import { matching, reactedTo, subscribedTo } from '../noteables/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { EpicRow } from './entities.ts'

/** An epic lies at most so deep below another one. */
export const deepest = 7

/** What is below an epic, as far as its dates are not fixed: each way of it ends at an epic with a date of its own. */
const inherited = sql`(
  with recursive below (id, start_open, due_open, start_fixed, due_fixed, depth) as (
    select e.id, true, true, null::date, null::date, 0
    union all
    select c.id, b.start_open and not c.start_date_is_fixed, b.due_open and not c.due_date_is_fixed,
      case when b.start_open and c.start_date_is_fixed then c.start_date_fixed end,
      case when b.due_open and c.due_date_is_fixed then c.due_date_fixed end, b.depth + 1
    from below b join epics c on c.parent_id = b.id where b.depth < ${sql.lit(deepest)}
  )
  select json_build_object(
    'start', least(min(b.start_fixed), min(m.start_date) filter (where b.start_open)),
    'due', greatest(max(b.due_fixed), max(m.due_date) filter (where b.due_open)))
  from below b left join issues i on i.epic_id = b.id left join milestones m on m.id = i.milestone_id)`

const ofMilestones = sql`(
  select json_build_object('start', min(m.start_date), 'due', max(m.due_date))
  from issues i join milestones m on m.id = i.milestone_id where i.epic_id = e.id)`

const parent = sql`(
  select json_build_object('id', o.id, 'iid', o.iid, 'group_id', o.namespace_id)
  from (select e.parent_id) own
  cross join lateral (
    select e.id, e.iid, e.namespace_id from epics e join namespaces n on n.id = e.namespace_id
    where e.id = own.parent_id and ${epicVisibleAnywhere}) o)`

/** Of epic `e` in group `n` for the caller `actor`. */
export function columns({ details = false }: { readonly details?: boolean } = {}): RawBuilder<unknown> {
  return sql`
    e.id, e.iid, e.namespace_id as group_id, n.full_path, e.title, e.description, e.state, e.confidential,
    e.start_date_is_fixed, e.start_date_fixed, e.due_date_is_fixed, e.due_date_fixed, e.created_at, e.updated_at,
    e.closed_at, e.upvotes, e.downvotes, e.color, ${parent} as parent, ${inherited} as inherited,
    ${ofMilestones} as milestones,
    (select ${basicUserJson('u')} from users u where u.id = e.author_id) as author,
    ${details ? labelRows('Epic', sql`e.id`) : labelTitles('Epic', sql`e.id`)} as labels`
}

export const source = sql`epics e join namespaces n on n.id = e.namespace_id`
const subscribed = sql`${subscribedTo('Epic', sql`e.id`, sql`e.author_id = actor.id`)} as subscribed`

export interface EpicFilter {
  readonly state: string
  readonly author_id?: number | undefined
  readonly author_username?: string | undefined
  readonly labels?: readonly string[] | undefined
  readonly search?: string | undefined
  readonly confidential?: boolean | undefined
  readonly my_reaction_emoji?: string | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly include_ancestor_groups: boolean
  readonly include_descendant_groups: boolean
  readonly order_by: 'created_at' | 'updated_at' | 'title'
  readonly sort: 'asc' | 'desc'
  readonly with_labels_details: boolean
  readonly not?:
    | {
        readonly labels?: readonly string[] | undefined
        readonly author_id?: number | undefined
        readonly author_username?: string | undefined
        readonly my_reaction_emoji?: string | undefined
      }
    | undefined
}

const userNamed = (name: string): RawBuilder<unknown> =>
  sql`(select u.id from users u where lower(u.username) = ${name.toLowerCase()})`

function conditionsOf(filter: EpicFilter): RawBuilder<unknown>[] {
  const all: RawBuilder<unknown>[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) all.push(condition(value))
  }
  add(filter.state === 'all' ? undefined : filter.state, (state) => sql`e.state = ${sql.lit(state)}`)
  add(filter.author_id, (id) => sql`e.author_id = ${id}`)
  add(filter.author_username, (name) => sql`e.author_id = ${userNamed(name)}`)
  all.push(...withLabels('Epic', sql`e.id`, filter.labels ?? []))
  add(filter.search?.trim() || undefined, (text) => matching([sql`e.title`, sql`e.description`], text))
  add(filter.confidential, (flag) => (flag ? sql`e.confidential` : sql`not e.confidential`))
  add(filter.my_reaction_emoji, (name) => reactedTo('Epic', sql`e.id`, name))
  add(filter.created_after, (time) => sql`e.created_at >= ${time}`)
  add(filter.created_before, (time) => sql`e.created_at <= ${time}`)
  add(filter.updated_after, (time) => sql`e.updated_at >= ${time}`)
  add(filter.updated_before, (time) => sql`e.updated_at <= ${time}`)
  const { not } = filter
  if (not !== undefined) {
    all.push(...withoutLabels('Epic', sql`e.id`, not.labels ?? []))
    add(not.author_id, (id) => sql`e.author_id is distinct from ${id}::bigint`)
    add(not.author_username, (name) => sql`e.author_id is distinct from ${userNamed(name)}`)
    add(not.my_reaction_emoji, (name) => sql`not ${reactedTo('Epic', sql`e.id`, name)}`)
  }
  return all
}

/** Of the group, and as far as asked for of those above and below that the caller sees. */
export function list(filter: EpicFilter, input: PageInput): Read<EpicRow> {
  const { include_ancestor_groups: above, include_descendant_groups: below } = filter
  const places = [sql`n.id = subject.id`]
  if (above) places.push(sql`n.id = any (subject.line)`)
  if (below) places.push(sql`n.traversal_ids @> array[subject.id]`)
  const visible = above || below ? epicVisibleAnywhere : epicVisible
  const key = filter.order_by === 'title' ? sql`lower(e.title)` : sql.ref(`e.${filter.order_by}`)
  const direction = filter.sort === 'desc' ? sql`desc` : sql`asc`
  const conditions = [sql`(${sql.join(places, sql` or `)})`, visible, ...conditionsOf(filter)]
  const hasValues = conditionsOf({ ...filter, state: 'all' }).length > 0
  return page(
    {
      columns: sql`${hasValues ? plannedByValues : sql``} ${columns({ details: filter.with_labels_details })}`,
      from: sql`from ${source} where ${sql.join(conditions, sql` and `)}`,
      order: sql`${key} ${direction}, e.id ${direction}`,
    },
    input,
  )
}

export function one(iid: number): Read<EpicRow> {
  return rows(sql`
    select ${columns()}, ${subscribed} from ${source}
    where e.namespace_id = subject.id and e.iid = ${iid} and ${epicVisible}`)
}

/** Epics right below another one. */
export function children(iid: number, input: PageInput): Read<EpicRow> {
  return page(
    {
      columns: columns(),
      from: sql`
        from (select e.id from epics e where e.namespace_id = subject.id and e.iid = ${iid} and ${epicVisible}) above
        join epics e on e.parent_id = above.id join namespaces n on n.id = e.namespace_id
        where ${epicVisibleAnywhere}`,
      order: sql`e.relative_position, e.id`,
    },
    input,
  )
}

export async function find(db: Reader, actor: Actor, id: number): Promise<EpicRow | undefined> {
  const { rows: found } = await sql<{ row: EpicRow }>`
    select to_json(found) as row from (
      select ${columns()}, ${subscribed} from ${actorRow(actor)} cross join ${source}
      where e.id = ${id} and ${epicVisibleAnywhere}) found`.execute(db)
  return found[0]?.row
}

/** The id of an epic by its number; 404 where the caller sees none of that number. */
export async function visibleId(db: Reader, actor: Actor, groupId: number, iid: number): Promise<number> {
  const { rows: found } = await sql<{ id: number }>`
    select e.id from ${actorRow(actor)} cross join ${source}
    where e.namespace_id = ${groupId} and e.iid = ${iid} and ${epicVisibleAnywhere}`.execute(db)
  if (found[0] === undefined) throw recordNotFound()
  return found[0].id
}

export interface NewEpic {
  readonly groupId: number
  readonly authorId: number
  readonly title: string
  readonly description: string | null
  readonly confidential: boolean
  readonly color: string | null
  readonly parentId: number | null
  readonly createdAt: Date | null
}

export async function create(tx: Tx, values: NewEpic): Promise<number> {
  const at = sql`coalesce(${values.createdAt}::timestamptz, now())`
  const { rows: made } = await sql<{ id: number }>`
    with counter as (${nextIid({ namespaceId: values.groupId }, 'epic')})
    insert into epics (namespace_id, iid, author_id, title, description, confidential, color, parent_id,
      relative_position, created_at, updated_at)
    select ${values.groupId}, counter.iid, ${values.authorId}, ${values.title}, ${values.description},
      ${values.confidential}, coalesce(${values.color}::text, '#1068bf'), ${values.parentId}::bigint,
      (extract(epoch from clock_timestamp()) * 1000000)::bigint, ${at}, ${at}
    from counter returning id`.execute(tx)
  return made[0]!.id
}

/** The columns that a change writes. */
export interface EpicColumns {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly confidential?: boolean | undefined
  readonly color?: string | undefined
  readonly parent_id?: number | null | undefined
  readonly start_date_is_fixed?: boolean | undefined
  readonly start_date_fixed?: string | null | undefined
  readonly due_date_is_fixed?: boolean | undefined
  readonly due_date_fixed?: string | null | undefined
  readonly state?: 'opened' | 'closed' | undefined
  readonly closed_by_id?: number | null | undefined
}

export async function update(tx: Tx, id: number, values: EpicColumns): Promise<void> {
  const sets = Object.entries(values).flatMap(([column, value]) =>
    value === undefined
      ? []
      : [
          sql`${sql.ref(column)} = ${value as unknown}${column.endsWith('_fixed') && !column.includes('_is_') ? sql`::date` : sql``}`,
        ],
  )
  if (values.state !== undefined)
    sets.push(sql`closed_at = ${values.state === 'closed' ? sql`now()` : sql`null`}`)
  await sql`update epics e set ${sql.join([...sets, sql`updated_at = now()`])} where e.id = ${id}`.execute(tx)
}

/** An epic as it is stored, locked until the transaction ends; undefined when it is gone. */
export interface StoredEpic {
  readonly id: number
  readonly namespace_id: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly confidential: boolean
  readonly color: string
  readonly parent_id: number | null
  readonly start_date_is_fixed: boolean
  readonly start_date_fixed: string | null
  readonly due_date_is_fixed: boolean
  readonly due_date_fixed: string | null
}

export async function lock(tx: Tx, id: number): Promise<StoredEpic | undefined> {
  const { rows: found } = await sql<StoredEpic>`
    select e.id, e.namespace_id, e.title, e.description, e.state, e.confidential, e.color, e.parent_id,
      e.start_date_is_fixed, e.start_date_fixed, e.due_date_is_fixed, e.due_date_fixed
    from epics e where e.id = ${id} for update`.execute(tx)
  return found[0]
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from epics e where e.id = ${id}`.execute(tx)
}

/** Whether an epic can come below another one: no circle, and the tree not too deep. */
export async function fitsBelow(tx: Tx, id: number | null, parentId: number): Promise<boolean> {
  const { rows: found } = await sql<{ circle: boolean; depth: number }>`
    with recursive above (id, depth) as (
      select ${parentId}::bigint, 1
      union all
      select e.parent_id, a.depth + 1 from above a join epics e on e.id = a.id
      where e.parent_id is not null and a.depth <= ${deepest + 1}
    ), below (id, depth) as (
      select ${id}::bigint, 1
      union all
      select e.id, b.depth + 1 from below b join epics e on e.parent_id = b.id where b.depth <= ${deepest + 1}
    )
    select coalesce((select bool_or(a.id = ${id}::bigint) from above a), false) as circle,
      (select max(depth) from above) + (select max(depth) from below) as depth`.execute(tx)
  return !found[0]!.circle && found[0]!.depth <= deepest
}
