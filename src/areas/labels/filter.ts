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

function has(type: NoteableType, id: RawBuilder<unknown>, which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (
    select from noteable_labels x join labels l on l.id = x.label_id
    where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id} and ${which})`
}

/** Conditions on the noteable with this id, each for one title. */
export function withLabels(
  type: NoteableType,
  id: RawBuilder<unknown>,
  labels: LabelFilter,
): RawBuilder<unknown>[] {
  const word = labels.length === 1 ? labels[0]!.toLowerCase() : ''
  const any = sql`exists (
    select from noteable_labels x where x.noteable_type = ${sql.lit(type)} and x.noteable_id = ${id})`
  if (word === 'none') return [sql`not ${any}`]
  if (word === 'any') return [any]
  return labels.map((title) => has(type, id, titled(title)))
}

/** Those that have none of the titles. */
export function withoutLabels(
  type: NoteableType,
  id: RawBuilder<unknown>,
  labels: LabelFilter,
): RawBuilder<unknown>[] {
  return labels.map((title) => sql`not ${has(type, id, titled(title))}`)
}
