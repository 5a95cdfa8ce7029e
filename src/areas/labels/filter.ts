import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { countedRows, countLimit } from '../../kernel/endpoint/index.ts'
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

/** As many noteables with the labels asked for are taken one by one; more are met soon on the way through a list. */
const few = countLimit

/**
 * Tables for a list of noteables with these labels, or undefined where the filter names none: of labels the planner
 * does not know how many have them. `few` has the ids of those that have all of them, or more than `few.limit`: then the
 * list is better walked in its order, and counted from `rarest`, the ids of the label that the fewest have.
 */
export function labelled(
  type: NoteableType,
  labels: LabelFilter,
  known: RawBuilder<unknown>,
): { readonly given: RawBuilder<unknown>; readonly limit: number } | undefined {
  if (labels.length === 0 || wordOf(labels) !== undefined) return undefined
  const ofType = sql`y.noteable_type = ${sql.lit(type)}`
  const wanted = labels.map(
    (title) => sql`select array(select l.id from labels l where ${known} and ${titled(title)}) as ids`,
  )
  const all =
    labels.length === 1 ? [] : labels.map((title) => sql`and ${has(type, sql`y.noteable_id`, title, known)}`)
  return {
    limit: few,
    given: sql`
      rarest as materialized (
        select unnest(w.ids) as id from (
          select w.ids from (${sql.join(wanted, sql` union all `)}) w
          order by (select count(*) from (
            select 1 from noteable_labels y where ${ofType} and y.label_id = any (w.ids) ${countedRows}) counted)
          limit 1) w
      ), few as materialized (
        select y.noteable_id as id from noteable_labels y
        where ${ofType} and y.label_id = any (array(select r.id from rarest r)) ${sql.join(all, sql` `)}
        ${countedRows}
      ),`,
  }
}

function wordOf(labels: LabelFilter): 'none' | 'any' | undefined {
  const word = labels.length === 1 ? labels[0]!.toLowerCase() : ''
  return word === 'none' || word === 'any' ? word : undefined
}
