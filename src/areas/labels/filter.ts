import { sql, type RawBuilder } from 'kysely'
import type { NoteableType } from '../noteables/index.ts'

/** What a list is narrowed by with `labels`: `None`, `Any`, or titles of which each must be there. */
export type LabelFilter = readonly string[]

/** `priority::*` is any label of the scope. */
function titled(title: string): RawBuilder<unknown> {
  return title.endsWith('::*')
    ? sql`l.title like ${`${title.slice(0, -1).replace(/[\\%_]/g, '\\$&')}_%`}`
    : sql`l.title = ${title}`
}

/**
 * Asked of each row as it comes, never joined: which labels those are is found once, and how many rows have them
 * the planner cannot know. `known`: a condition on the labels `l` that the list knows; without one all there are.
 */
function has(
  type: NoteableType,
  id: RawBuilder<unknown>,
  title: string,
  known: RawBuilder<unknown> | undefined,
): RawBuilder<unknown> {
  const which =
    known === undefined
      ? sql`exists (select from labels l where l.id = x.label_id and ${titled(title)})`
      : sql`x.label_id = any (array(select l.id from labels l where ${known} and ${titled(title)}))`
  return sql`exists (
    select from noteable_labels x
    where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id} and ${which} offset 0)`
}

/** Conditions on the noteable with this id, each for one title. */
export function withLabels(
  type: NoteableType,
  id: RawBuilder<unknown>,
  labels: LabelFilter,
  known?: RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const any = sql`exists (
    select from noteable_labels x where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id})`
  const word = wordOf(labels)
  if (word === 'none') return [sql`not ${any}`]
  if (word === 'any') return [any]
  return labels.map((title) => has(type, id, title, known))
}

/** Those that have none of the titles. */
export function withoutLabels(
  type: NoteableType,
  id: RawBuilder<unknown>,
  labels: LabelFilter,
  known?: RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return labels.map((title) => sql`not ${has(type, id, title, known)}`)
}

/**
 * Ids of the noteables that have all these labels, as far as they are looked up one by one (`limit`), or undefined
 * where the filter names no labels. Where there are few of them, a list is best put together from these.
 */
export function labelled(
  type: NoteableType,
  labels: LabelFilter,
  known: RawBuilder<unknown>,
  limit: number,
): RawBuilder<unknown> | undefined {
  if (labels.length === 0 || wordOf(labels) !== undefined) return undefined
  const [first, ...others] = labels
  const more = others.map((title) => sql`and ${has(type, sql`y.noteable_id`, title, known)}`)
  return sql`
    select distinct y.noteable_id as id from noteable_labels y
    where y.noteable_type = ${sql.lit(type)}
      and y.label_id = any (array(select l.id from labels l where ${known} and ${titled(first!)}))
      ${sql.join(more, sql` `)}
    limit ${limit}`
}

function wordOf(labels: LabelFilter): 'none' | 'any' | undefined {
  const word = labels.length === 1 ? labels[0]!.toLowerCase() : ''
  return word === 'none' || word === 'any' ? word : undefined
}
