import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Noteable, NoteableType } from '../noteables/index.ts'
import { defaultColor } from './colors.ts'
import type { LabelDetailsRow } from './entities.ts'
import { lastOfEachScope, mayBecomeLabel, scopeOf } from './rules.ts'

/** The labels that a noteable can have: of its project, if it is in one, and of the groups above. */
export interface LabelPlace {
  readonly projectId: number | null
  readonly line: readonly number[]
}

export interface KnownLabel {
  readonly id: number
  readonly title: string
}

/**
 * The labels with these titles, in the order of the titles; `create`: those that there are not are made, as labels of
 * the project, or of the group where it is in none. What can be no title is left out.
 */
export async function labelsNamed(
  tx: Tx,
  { projectId, line }: LabelPlace,
  titles: readonly string[],
  create: boolean,
): Promise<KnownLabel[]> {
  const wanted = [...new Set(titles.map((title) => title.trim()).filter(mayBecomeLabel))]
  if (wanted.length === 0) return []
  const known = await findTitles(tx, { projectId, line }, wanted)
  const unknown = wanted.filter((title) => !known.has(title))
  const groupId = projectId === null ? line.at(-1) : null
  if (create && groupId !== undefined && unknown.length > 0) {
    await sql`
      insert into labels (project_id, namespace_id, title, color)
      select ${projectId}::bigint, ${groupId}::bigint, t.title, ${defaultColor} from unnest(${unknown}::text[]) t (title)
      on conflict do nothing`.execute(tx)
    for (const [title, id] of await findTitles(tx, { projectId, line }, unknown)) known.set(title, id)
  }
  return wanted.flatMap((title) => {
    const id = known.get(title)
    return id === undefined ? [] : [{ id, title }]
  })
}

/** Of two labels of one title the nearer. */
async function findTitles(
  db: Reader,
  { projectId, line }: LabelPlace,
  titles: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: number; title: string }>`
    select distinct on (l.title) l.id, l.title from labels l
    where l.title = any (${[...titles]}::text[])
      and (l.project_id = ${projectId} or l.namespace_id = any (${[...line]}::bigint[]))
    order by l.title, l.project_id nulls last, array_position(${[...line]}::bigint[], l.namespace_id) desc`.execute(
    db,
  )
  return new Map(rows.map(({ id, title }) => [title, id]))
}

export type LabelChange =
  | { readonly set: readonly KnownLabel[] }
  | { readonly add: readonly KnownLabel[]; readonly remove: readonly { readonly id: number }[] }

export interface LabelsChanged {
  readonly added: readonly KnownLabel[]
  readonly removed: readonly KnownLabel[]
}

/**
 * Attaches and detaches labels, and records both. A new label of a scope takes the place of the one that is there.
 * The noteable's row is to be locked, or new.
 */
export async function changeLabels(
  tx: Tx,
  { type, id }: Noteable,
  change: LabelChange,
  userId: number | null,
): Promise<LabelsChanged> {
  const { rows: before } = await sql<KnownLabel>`
    select l.id, l.title from noteable_labels x join labels l on l.id = x.label_id
    where x.noteable_type = ${type} and x.noteable_id = ${id} order by l.id`.execute(tx)
  const after = wantedLabels(before, change)
  const added = after.filter((label) => !before.some((other) => other.id === label.id))
  const removed = before.filter((label) => !after.some((other) => other.id === label.id))
  if (added.length === 0 && removed.length === 0) return { added, removed }
  const ids = (labels: readonly KnownLabel[]): number[] => labels.map((label) => label.id)
  await sql`
    with gone as (
      delete from noteable_labels x
      where x.noteable_type = ${type} and x.noteable_id = ${id} and x.label_id = any (${ids(removed)}::bigint[])
    ), come as (
      insert into noteable_labels (noteable_type, noteable_id, label_id)
      select ${type}, ${id}::bigint, l.id from unnest(${ids(added)}::bigint[]) l (id) on conflict do nothing
    )
    insert into resource_label_events (noteable_type, noteable_id, user_id, label_id, action)
    select ${type}, ${id}::bigint, ${userId}::bigint, e.label_id, e.action from (
      select l.id as label_id, 'add' as action from unnest(${ids(added)}::bigint[]) l (id)
      union all select l.id, 'remove' from unnest(${ids(removed)}::bigint[]) l (id)) e`.execute(tx)
  return { added, removed }
}

function wantedLabels(before: readonly KnownLabel[], change: LabelChange): KnownLabel[] {
  if ('set' in change) return lastOfEachScope(change.set)
  const add = lastOfEachScope(change.add)
  const scopes = new Set(add.map(({ title }) => scopeOf(title)).filter((scope) => scope !== undefined))
  const stays = ({ id, title }: KnownLabel): boolean =>
    !change.remove.some((label) => label.id === id) &&
    !add.some((label) => label.id === id) &&
    !scopes.has(scopeOf(title) ?? '')
  return [...before.filter(stays), ...add]
}

/** Titles of a noteable's labels as a JSON array; `id` names its column: sql`i.id`. */
export function labelTitles(type: NoteableType, id: RawBuilder<unknown>): RawBuilder<string[]> {
  return sql`coalesce((
    select json_agg(l.title order by l.title) from noteable_labels x join labels l on l.id = x.label_id
    where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id}), '[]'::json)`
}

/** The same with all that `labelDetails` shows of them. */
export function labelRows(type: NoteableType, id: RawBuilder<unknown>): RawBuilder<LabelDetailsRow[]> {
  return sql`coalesce((
    select json_agg(json_build_object('id', l.id, 'name', l.title, 'description', l.description, 'color', l.color)
      order by l.title)
    from noteable_labels x join labels l on l.id = x.label_id
    where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id}), '[]'::json)`
}
