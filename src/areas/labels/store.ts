import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { LabelRow } from './entities.ts'
import type { Owner, PlaceKind } from '../noteables/index.ts'
import { issuesOf, requestsOf, within, type Reach } from './places.ts'
import { taken } from './rules.ts'

function columns(kind: PlaceKind, counted: boolean): RawBuilder<unknown> {
  const counts = sql`(
    select json_build_object('open_issues_count', count(*) filter (where i.state = 'opened'),
      'closed_issues_count', count(*) filter (where i.state = 'closed'), 'open_merge_requests_count', (
        select count(*) from noteable_labels x ${requestsOf(kind)}
        where x.label_id = l.id and x.noteable_type = 'MergeRequest' and m.state = 'opened'))
    from noteable_labels x ${issuesOf(kind)} where x.label_id = l.id and x.noteable_type = 'Issue')`
  const priority =
    kind === 'project'
      ? sql`(select pr.priority from label_priorities pr where pr.label_id = l.id and pr.project_id = subject.id)`
      : sql`null::integer`
  return sql`
    l.id, l.title as name, l.description, l.color, l.updated_at, l.project_id is not null as is_project_label,
    ${priority} as priority, ${counted ? counts : sql`null::json`} as counts,
    exists (select from subscriptions s where s.subscribable_type = 'Label' and s.subscribable_id = l.id
      and s.user_id = actor.id and s.subscribed) as subscribed`
}

export interface LabelFilter extends Reach {
  readonly with_counts: boolean
  readonly search?: string | undefined
}

/** Read together with the caller's access: `subject` is the project or group. */
export function list(kind: PlaceKind, filter: LabelFilter, input: PageInput): Read<LabelRow> {
  const { search = '' } = filter
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const found = search === '' ? sql`` : sql`and (l.title ilike ${pattern} or l.description ilike ${pattern})`
  return page(
    {
      columns: columns(kind, filter.with_counts),
      from: sql`from labels l where ${within(kind, filter)} ${found}`,
      order: sql`l.title, l.id`,
    },
    input,
  )
}

/** By id or title; of a title that a group above has too, the nearest. */
export function one(kind: PlaceKind, named: string, reach?: Reach): Read<LabelRow> {
  return rows(sql`
    select ${columns(kind, false)} from labels l where ${within(kind, reach)} and ${isNamed(named)}
    order by ${isId(named) ? sql`l.id = ${Number(named)} desc,` : sql``} l.project_id nulls last,
      array_position(subject.line, l.namespace_id) desc limit 1`)
}

const isId = (named: string): boolean => /^\d{1,15}$/.test(named)

function isNamed(named: string): RawBuilder<unknown> {
  return isId(named) ? sql`(l.id = ${Number(named)} or l.title = ${named})` : sql`l.title = ${named}`
}

/** A label as it now is, for its answer. */
export async function find(db: Reader, owner: Owner, userId: number, id: number): Promise<LabelRow> {
  const { rows: found } = await sql<LabelRow>`
    select ${columns(owner.kind, false)}
    from labels l, (select ${owner.id}::bigint as id) subject, (select ${userId}::bigint as id) actor
    where l.id = ${id}`.execute(db)
  return found[0]!
}

export interface LabelValues {
  readonly title: string
  readonly description: string | null
  readonly color: string
}

/** 409 where the title is taken, here or in a group above. */
export async function create(tx: Tx, owner: Owner, values: LabelValues): Promise<number> {
  if (await isTaken(tx, owner, values.title)) throw taken()
  const { rows: made } = await sql<{ id: number }>`
    insert into labels (project_id, namespace_id, title, description, color)
    values (${owner.kind === 'project' ? owner.id : null}, ${owner.kind === 'group' ? owner.id : null},
      ${values.title}, ${values.description}, ${values.color}) returning id`
    .execute(tx)
    .catch(titleTaken)
  return made[0]!.id
}

async function isTaken(tx: Tx, { kind, id, line }: Owner, title: string): Promise<boolean> {
  const { rows: found } = await sql`
    select from labels l where l.title = ${title}
      and (l.namespace_id = any (${[...line]}::bigint[]) or l.project_id = ${kind === 'project' ? id : null})
    limit 1`.execute(tx)
  return found.length > 0
}

function titleTaken(error: unknown): never {
  try {
    return onConstraint('labels_of_project', taken)(error)
  } catch (other) {
    return onConstraint('labels_of_group', taken)(other)
  }
}

export async function change(tx: Tx, id: number, values: LabelValues): Promise<void> {
  await sql`
    update labels l set title = ${values.title}, description = ${values.description}, color = ${values.color},
      updated_at = now()
    where l.id = ${id}`
    .execute(tx)
    .catch(titleTaken)
}

/** Null: none. */
export async function prioritize(
  tx: Tx,
  projectId: number,
  labelId: number,
  priority: number | null,
): Promise<void> {
  await (
    priority === null
      ? sql`delete from label_priorities pr where pr.project_id = ${projectId} and pr.label_id = ${labelId}`
      : sql`
          insert into label_priorities (project_id, label_id, priority) values (${projectId}, ${labelId}, ${priority})
          on conflict (label_id, project_id) do update set priority = excluded.priority`
  ).execute(tx)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from labels l where l.id = ${id}`.execute(tx)
}

/**
 * The label of a project becomes one of its group, and so do those of the same title in the other projects of the
 * group: whatever had one of them has the one. Answers the id of the group's label.
 */
export async function promote(tx: Tx, labelId: number, groupId: number): Promise<number> {
  const { rows: made } = await sql<{ id: number; old: number[] }>`
    with model as (select l.title, l.description, l.color from labels l where l.id = ${labelId}),
    made as (
      insert into labels as l (namespace_id, title, description, color)
      select ${groupId}, model.title, model.description, model.color from model
      on conflict (namespace_id, title) do update set updated_at = now()
      returning l.id, l.title
    )
    select made.id, coalesce((
      select json_agg(l.id) from labels l join projects p on p.id = l.project_id join namespaces n on n.id = p.namespace_id
      where l.title = made.title and n.traversal_ids @> array[${groupId}::bigint]), '[]') as old
    from made`.execute(tx)
  const { id, old } = made[0]!
  for (const table of ['noteable_labels', 'label_priorities', 'subscriptions'] as const) {
    await moved[table](id, old).execute(tx)
  }
  await sql`update resource_label_events e set label_id = ${id} where e.label_id = any (${old}::bigint[])`.execute(
    tx,
  )
  await sql`delete from labels l where l.id = any (${old}::bigint[])`.execute(tx)
  return id
}

/** What hangs on labels, written for another one; what is there already stays. */
const moved: Readonly<
  Record<
    'noteable_labels' | 'label_priorities' | 'subscriptions',
    (to: number, from: number[]) => RawBuilder<unknown>
  >
> = {
  noteable_labels: (to, from) => sql`
    insert into noteable_labels (noteable_type, noteable_id, label_id)
    select distinct x.noteable_type, x.noteable_id, ${to}::bigint from noteable_labels x
    where x.label_id = any (${from}::bigint[]) on conflict do nothing`,
  label_priorities: (to, from) => sql`
    insert into label_priorities (project_id, label_id, priority)
    select pr.project_id, ${to}::bigint, min(pr.priority) from label_priorities pr
    where pr.label_id = any (${from}::bigint[]) group by pr.project_id on conflict do nothing`,
  subscriptions: (to, from) => sql`
    insert into subscriptions (user_id, subscribable_type, subscribable_id, subscribed)
    select s.user_id, 'Label', ${to}::bigint, bool_or(s.subscribed) from subscriptions s
    where s.subscribable_type = 'Label' and s.subscribable_id = any (${from}::bigint[])
    group by s.user_id on conflict do nothing`,
}
