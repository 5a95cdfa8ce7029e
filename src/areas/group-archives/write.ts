import { chosenIid, sql, type Tx } from '../../kernel/db/index.ts'
import type { Records } from './format.ts'

/** Where records go, and who brings them. */
export interface Target {
  /** Ids of the new groups by their path in the archive. */
  readonly groups: ReadonlyMap<string, number>
  readonly importerId: number
  /** Only administrators may say that others wrote something. */
  readonly asOthers: boolean
}

/** Those whose group is there, with its id. */
function placed<Record extends { readonly group: string }>(
  { groups }: Target,
  records: readonly Record[],
): (Record & { readonly namespace_id: number })[] {
  return records.flatMap((record) => {
    const id = groups.get(record.group)
    return id === undefined ? [] : [{ ...record, namespace_id: id }]
  })
}

export async function writeLabels(
  tx: Tx,
  target: Target,
  records: readonly Records['labels'][],
): Promise<void> {
  await sql`
    insert into labels (namespace_id, title, description, color)
    select g.namespace_id, g.title, g.description, g.color
    from jsonb_to_recordset(${JSON.stringify(placed(target, records))})
      g (namespace_id bigint, title text, description text, color text)
    on conflict (namespace_id, title) do nothing`.execute(tx)
}

export async function writeMilestones(
  tx: Tx,
  target: Target,
  records: readonly Records['milestones'][],
): Promise<void> {
  const rows = placed(target, records)
  await sql`
    insert into milestones (iid, namespace_id, title, description, state, start_date, due_date, created_at, updated_at)
    select distinct on (g.namespace_id, g.iid) g.iid, g.namespace_id, g.title, g.description, g.state, g.start_date,
      g.due_date, g.created_at, g.updated_at
    from jsonb_to_recordset(${JSON.stringify(rows)}) g (iid bigint, namespace_id bigint, title text, description text,
      state text, start_date date, due_date date, created_at timestamptz, updated_at timestamptz)
    order by g.namespace_id, g.iid
    on conflict (namespace_id, iid) do nothing`.execute(tx)
  await raise(tx, 'milestone', rows)
}

export async function writeEpics(
  tx: Tx,
  target: Target,
  records: readonly Records['epics'][],
): Promise<void> {
  const { importerId, asOthers } = target
  const rows = placed(target, records)
  const author = asOthers
    ? sql`coalesce((select u.id from users u where lower(u.username) = lower(g.author)), ${importerId}::bigint)`
    : sql`${importerId}::bigint`
  await sql`
    with given as (
      select distinct on (g.namespace_id, g.iid) g.* from jsonb_to_recordset(${JSON.stringify(rows)}) g (iid bigint,
        namespace_id bigint, title text, description text, state text, confidential boolean, color text,
        start_date date, due_date date, created_at timestamptz, updated_at timestamptz, closed_at timestamptz,
        author text, labels jsonb)
      order by g.namespace_id, g.iid
    ), made as (
      insert into epics (namespace_id, iid, author_id, title, description, state, confidential, color,
        start_date_fixed, start_date_is_fixed, due_date_fixed, due_date_is_fixed, created_at, updated_at, closed_at,
        relative_position)
      select g.namespace_id, g.iid, ${author}, g.title, g.description, g.state, g.confidential, g.color,
        g.start_date, g.start_date is not null, g.due_date, g.due_date is not null, g.created_at, g.updated_at,
        g.closed_at, g.iid * 1000
      from given g order by g.namespace_id, g.iid
      on conflict (namespace_id, iid) do nothing returning id, iid, namespace_id
    )
    insert into noteable_labels (noteable_type, noteable_id, label_id)
    select distinct 'Epic', m.id, l.id from made m
      join given g on g.iid = m.iid and g.namespace_id = m.namespace_id,
      jsonb_array_elements_text(g.labels) as named (label)
      join labels l on l.title = named.label
    where l.namespace_id = m.namespace_id`.execute(tx)
  await raise(tx, 'epic', rows)
}

/** Which epic is above which, once all are there; what would lead round in a circle stays without. */
export async function writeParents(
  tx: Tx,
  target: Target,
  records: readonly Records['epics'][],
): Promise<void> {
  for (const { namespace_id, iid, parent } of placed(target, records)) {
    if (parent === null) continue
    await sql`
      with recursive above (id, depth) as (
        select p.id, 1 from epics p where p.namespace_id = ${namespace_id} and p.iid = ${parent}
        union all
        select e.parent_id, a.depth + 1 from above a join epics e on e.id = a.id
        where e.parent_id is not null and a.depth < 10
      )
      update epics e set parent_id = p.id from epics p
      where e.namespace_id = ${namespace_id} and e.iid = ${iid} and p.namespace_id = ${namespace_id}
        and p.iid = ${parent} and not exists (select from above a where a.id = e.id)
        and (select max(a.depth) from above a) < 7`.execute(tx)
  }
}

/** The next ones get higher numbers. */
async function raise(
  tx: Tx,
  kind: 'milestone' | 'epic',
  rows: readonly { readonly iid: number; readonly namespace_id: number }[],
): Promise<void> {
  const highest = new Map<number, number>()
  for (const { namespace_id: id, iid } of rows) highest.set(id, Math.max(iid, highest.get(id) ?? 0))
  for (const [namespaceId, iid] of highest) await chosenIid({ namespaceId }, kind, iid).execute(tx)
}
