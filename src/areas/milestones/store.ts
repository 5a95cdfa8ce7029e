import type { RawBuilder } from 'kysely'
import { placeVisible } from '../../access/index.ts'
import { nextIid, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { milestoneColumns, milestoneSource, type MilestoneRow } from './entities.ts'
import { isFound, rankOf, type Found, type Owner, type PlaceKind } from '../noteables/index.ts'
import { within } from './places.ts'
import { titleTaken, type MilestoneValues } from './rules.ts'

export interface MilestoneFilter {
  readonly iids?: readonly number[] | undefined
  readonly state?: string | undefined
  readonly title?: string | undefined
  readonly search?: string | undefined
  readonly search_title?: string | undefined
  readonly updated_before?: Date | undefined
  readonly updated_after?: Date | undefined
  readonly containing_date?: string | undefined
  readonly include_ancestors?: boolean | undefined
  readonly include_descendants?: boolean | undefined
}

const pattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Read together with the caller's access: `subject` is the project or group. The next to be due comes first. */
export function list(kind: PlaceKind, filter: MilestoneFilter, input: PageInput): Read<MilestoneRow> {
  const conditions: RawBuilder<unknown>[] = [
    within(kind, { above: filter.include_ancestors === true, below: filter.include_descendants === true }),
  ]
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) conditions.push(condition(value))
  }
  // Numbers mean nothing among those of several places.
  add(
    filter.include_ancestors === true || filter.iids?.length === 0 ? undefined : filter.iids,
    (iids) => sql`m.iid = any (${[...iids]}::bigint[])`,
  )
  add(filter.state === 'all' ? undefined : filter.state, (state) => sql`m.state = ${state}`)
  add(filter.title, (title) => sql`m.title = ${title}`)
  add(
    filter.search || undefined,
    (text) => sql`(m.title ilike ${pattern(text)} or m.description ilike ${pattern(text)})`,
  )
  add(filter.search_title || undefined, (text) => sql`m.title ilike ${pattern(text)}`)
  add(filter.updated_before, (time) => sql`m.updated_at <= ${time}`)
  add(filter.updated_after, (time) => sql`m.updated_at >= ${time}`)
  add(
    filter.containing_date,
    (day) =>
      sql`coalesce(m.start_date, m.due_date) <= ${day} and coalesce(m.due_date, m.start_date) >= ${day}`,
  )
  return page(
    {
      columns: milestoneColumns,
      from: sql`from ${milestoneSource} where ${sql.join(conditions, sql` and `)}`,
      order: sql`m.due_date, m.title, m.id`,
    },
    input,
  )
}

/** Those that a search finds, everywhere or in the subject and below it, as far as their places are open to the caller. */
export function searched(
  where: PlaceKind | 'instance',
  what: string | Found,
  sort: 'asc' | 'desc',
  input: PageInput,
): Read<MilestoneRow> {
  const place = where === 'instance' ? sql`true` : within(where, { below: true })
  const matches =
    typeof what === 'string'
      ? sql`(m.title ilike ${pattern(what)} or m.description ilike ${pattern(what)})`
      : isFound(sql`m.id`, what)
  const visible = sql`(${placeVisible.project(sql`m.project_id`)} or ${placeVisible.group(sql`m.namespace_id`)})`
  const direction = sql.raw(sort)
  return page(
    {
      columns: milestoneColumns,
      from: sql`from ${milestoneSource} where ${place} and ${matches} and ${visible}`,
      order:
        typeof what === 'string'
          ? sql`m.created_at ${direction}, m.id ${direction}`
          : rankOf(sql`m.id`, what),
    },
    input,
  )
}

export function one(kind: PlaceKind, id: number): Read<MilestoneRow> {
  return rows(sql`select ${milestoneColumns} from ${milestoneSource} where ${within(kind)} and m.id = ${id}`)
}

/** 404 where the place has no such milestone of its own; else the full path of the place. */
export async function requireMilestone(
  db: Reader,
  { kind, id }: Owner,
  milestoneId: number,
): Promise<{ readonly fullPath: string }> {
  const { rows: found } = await sql<{ full_path: string }>`
    select coalesce(mp.full_path, mn.full_path) as full_path from ${milestoneSource}
    where m.id = ${milestoneId} and ${kind === 'project' ? sql`m.project_id` : sql`m.namespace_id`} = ${id}`.execute(
    db,
  )
  if (found[0] === undefined) throw recordNotFound()
  return { fullPath: found[0].full_path }
}

async function find(db: Reader, id: number): Promise<MilestoneRow> {
  const { rows: found } = await sql<MilestoneRow>`
    select ${milestoneColumns} from ${milestoneSource} where m.id = ${id}`.execute(db)
  return found[0]!
}

export async function create(tx: Tx, owner: Owner, values: MilestoneValues): Promise<MilestoneRow> {
  const ofProject = owner.kind === 'project'
  await requireFreeTitle(tx, owner, values.title, null)
  const place = ofProject ? { projectId: owner.id } : { namespaceId: owner.id }
  const { rows: made } = await sql<{ id: number }>`
    with counter as (${nextIid(place, 'milestone')})
    insert into milestones (iid, project_id, namespace_id, title, description, start_date, due_date)
    select counter.iid, ${ofProject ? owner.id : null}::bigint, ${ofProject ? null : owner.id}::bigint, ${values.title},
      ${values.description}, ${values.start_date}::date, ${values.due_date}::date
    from counter returning id`.execute(tx)
  return find(tx, made[0]!.id)
}

/** A title is free if no milestone of the place, above or below it has it. */
async function requireFreeTitle(tx: Tx, owner: Owner, title: string, except: number | null): Promise<void> {
  // One at a time in a tree of groups: there is no constraint over several places.
  const top = owner.line[0] ?? owner.id
  await sql`select pg_advisory_xact_lock(hashtextextended('milestones of ' || ${top}::bigint, 0))`.execute(tx)
  const below =
    owner.kind === 'group'
      ? sql`
          or m.namespace_id in (select n.id from namespaces n where n.traversal_ids @> array[${owner.id}::bigint])
          or m.project_id in (
            select p.id from projects p join namespaces n on n.id = p.namespace_id
            where n.traversal_ids @> array[${owner.id}::bigint])`
      : sql`or m.project_id = ${owner.id}`
  const { rows: found } = await sql`
    select from milestones m
    where m.title = ${title} and m.id is distinct from ${except}::bigint
      and (m.namespace_id = any (${[...owner.line]}::bigint[]) ${below})
    limit 1`.execute(tx)
  if (found.length > 0) throw titleTaken(except === null ? 'create' : 'update')
}

export async function change(
  tx: Tx,
  owner: Owner,
  before: MilestoneRow,
  values: MilestoneValues & { readonly state: string },
): Promise<MilestoneRow> {
  if (values.title !== before.title) await requireFreeTitle(tx, owner, values.title, before.id)
  await sql`
    update milestones m set title = ${values.title}, description = ${values.description},
      start_date = ${values.start_date}::date, due_date = ${values.due_date}::date, state = ${values.state},
      updated_at = now()
    where m.id = ${before.id}`.execute(tx)
  return find(tx, before.id)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from milestones m where m.id = ${id}`.execute(tx)
}

/** The milestone becomes one of the group; those of the same title in the group's other projects go up in it. */
export async function promote(tx: Tx, milestoneId: number, groupId: number): Promise<MilestoneRow> {
  const { rows: old } = await sql<{ id: number }>`
    select o.id from milestones m
    join milestones o on o.title = m.title
    join projects p on p.id = o.project_id join namespaces n on n.id = p.namespace_id
    where m.id = ${milestoneId} and n.traversal_ids @> array[${groupId}::bigint] and o.id <> m.id
    order by o.id`.execute(tx)
  await sql`
    with counter as (${nextIid({ namespaceId: groupId }, 'milestone')})
    update milestones m set project_id = null, namespace_id = ${groupId}, iid = counter.iid, updated_at = now()
    from counter where m.id = ${milestoneId}`.execute(tx)
  const ids = old.map(({ id }) => id)
  if (ids.length > 0) {
    for (const table of ['issues', 'merge_requests', 'resource_milestone_events'] as const) {
      await sql`
        update ${sql.table(table)} t set milestone_id = ${milestoneId} where t.milestone_id = any (${ids}::bigint[])`.execute(
        tx,
      )
    }
    await sql`delete from milestones m where m.id = any (${ids}::bigint[])`.execute(tx)
  }
  return find(tx, milestoneId)
}
