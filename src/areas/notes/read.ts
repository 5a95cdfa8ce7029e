import type { RawBuilder } from 'kysely'
import {
  actorRow,
  discussionVisible,
  openDiscussion,
  readsInternalNotes,
  type Actor,
} from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { countedRows, rows, windowOf, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { DiscussionRow, FlatRow, NoteRow } from './entities.ts'
import type { Found, Noteable, Place } from './noteables/noteable.ts'
import { suggestionsJson } from './suggestions/store.ts'

/** A noteable with the part of what is said about it that was asked for. */
export interface Opened<Item> extends Found {
  /** Null while nothing was said about it. */
  readonly noteable_id: number | null
  /** Where the stream of its changes is. */
  readonly version: number | null
  readonly items: readonly (Item | null)[] | null
  /** How many there are in all that the caller sees; past 10,000 more than that. */
  readonly total: number
}

/** Of note `n` in discussion `d`, by `u`, resolved by `r`. */
const noteJson: RawBuilder<NoteRow> = sql`
  json_build_object('id', n.id, 'body', n.body, 'author', ${basicUserJson('u')}, 'system', n.system,
    'action', n.action, 'resolvable', n.resolvable, 'resolved_at', n.resolved_at,
    'resolved_by', ${basicUserJson('r')}, 'created_at', n.created_at, 'updated_at', n.updated_at,
    'suggestions', ${suggestionsJson})`

const people = sql`left join users u on u.id = n.author_id left join users r on r.id = n.resolved_by_id`

/** Notes of people who were banned are for administrators only. */
const notBanned = sql`(u.state is distinct from 'banned' or actor.admin)`

const discussionFields = sql`
  'id', d.id, 'key', d.key, 'individual', d.individual, 'internal', d.internal, 'position', d.position,
  'commit_id', d.commit_id`

/** With its notes, null where all of them are hidden. */
const discussionJson: RawBuilder<DiscussionRow> = sql`
  (select json_build_object(${discussionFields}, 'notes', json_agg(${noteJson} order by n.created_at, n.id))
   from notes n ${people} where n.discussion_id = d.id and ${notBanned} having count(*) > 0)`

function matching({ kind }: Noteable): RawBuilder<unknown> {
  return kind === 'Commit'
    ? sql`nb.project_id = subject.id and nb.commit_sha = t.sha`
    : sql`nb.kind = ${kind} and nb.target_id = t.target_id`
}

/** `items`: of what was said about the noteable, in the row `nb`. */
export function opened<Item>(
  noteable: Noteable,
  named: string | number,
  items: RawBuilder<unknown>,
  total: RawBuilder<unknown> = sql`0`,
): Read<Opened<Item>> {
  return rows(sql`
    select t.target_id, t.iid, t.sha, t.author_id, t.locked, nb.id as noteable_id, nb.version, ${items} as items,
      ${total} as total
    from (${noteable.find(named)}) t left join noteables nb on ${matching(noteable)}`)
}

/** Only the noteable. */
export function alone(noteable: Noteable, named: string | number): Read<Opened<never>> {
  return opened(noteable, named, sql`null::json`)
}

/** The ids of a page and one more; how, see `windowOf`. */
function pageOf(ids: RawBuilder<unknown>, page: PageInput): RawBuilder<unknown> {
  return sql`(select * from (${ids} ${windowOf(page)}) walked limit ${page.limit + 1})`
}

/** One row more than a page is read. The total is kept with the noteable, but for what refers to hidden things. */
export function discussions(
  noteable: Noteable,
  named: string | number,
  page: PageInput,
): Read<Opened<DiscussionRow>> {
  const ids = sql`
    select d.id from discussions d where d.noteable_id = nb.id and ${discussionVisible} order by d.started_at, d.id`
  const items = sql`(
    select json_agg(${discussionJson} order by d.started_at, d.id)
    from ${pageOf(ids, page)} page join discussions d on d.id = page.id)`
  const total = sql`
    coalesce(nb.discussions - case when ${readsInternalNotes} then 0 else nb.internal_discussions end, 0) - (
      select count(*) from discussions d
      where d.noteable_id = nb.id and (d.ref_kind is not null or d.needs_code) and not ${openDiscussion})`
  return opened(noteable, named, items, total)
}

export function discussion(
  noteable: Noteable,
  named: string | number,
  key: string,
): Read<Opened<DiscussionRow>> {
  return opened(
    noteable,
    named,
    sql`(
      select json_agg(${discussionJson}) from discussions d
      where d.noteable_id = nb.id and d.key = ${key} and ${discussionVisible})`,
  )
}

export interface FlatFilter {
  readonly sort: 'asc' | 'desc'
  readonly order_by: 'created_at' | 'updated_at'
  readonly activity_filter: 'all_notes' | 'only_comments' | 'only_activity'
}

/** A note `n` of discussion `d`, by `u`, resolved by `r`. */
export const flatNote: RawBuilder<FlatRow> = sql`json_build_object(${discussionFields}, 'note', ${noteJson})`
const flatFrom = sql`
  from notes n join discussions d on d.id = n.discussion_id left join users u on u.id = n.author_id
  where n.noteable_id = nb.id and ${discussionVisible} and ${notBanned}`

export function notes(
  noteable: Noteable,
  named: string | number,
  { sort, order_by, activity_filter }: FlatFilter,
  page: PageInput,
): Read<Opened<FlatRow>> {
  const filter =
    activity_filter === 'all_notes'
      ? sql`true`
      : activity_filter === 'only_comments'
        ? sql`not n.system`
        : sql`n.system`
  const direction = sql.raw(sort)
  const key = sql.ref(`n.${order_by}`)
  const ids = sql`select n.id ${flatFrom} and ${filter} order by ${key} ${direction}, n.id ${direction}`
  const items = sql`(
    select json_agg(${flatNote} order by ${key} ${direction}, n.id ${direction})
    from ${pageOf(ids, page)} page join notes n on n.id = page.id join discussions d on d.id = n.discussion_id ${people})`
  const total = sql`(select count(*) from (select ${flatFrom} and ${filter} ${countedRows}) counted)`
  return opened(noteable, named, items, total)
}

/** A note by its id, in one discussion if that is given. `hidden`: the caller may not see it. */
export function note(
  noteable: Noteable,
  named: string | number,
  noteId: number,
  key?: string,
): Read<Opened<FlatRow & { readonly hidden: boolean }>> {
  return opened(
    noteable,
    named,
    sql`(
      select json_agg(json_build_object(${discussionFields}, 'note', ${noteJson},
        'hidden', not (${discussionVisible} and ${notBanned})))
      from notes n join discussions d on d.id = n.discussion_id ${people}
      where n.noteable_id = nb.id and n.id = ${noteId} ${key === undefined ? sql`` : sql`and d.key = ${key}`})`,
  )
}

/** What a read brings, by itself: for a noteable whose name had to be looked up first. */
export async function readNow<Row>(
  db: Reader,
  actor: Actor,
  place: Place,
  read: Read<Row>,
): Promise<Row | undefined> {
  const found = await sql<{ loaded: { rows: Row[] } }>`
    select ${read.sql} as loaded
    from ${actorRow(actor)}, (select ${place.id}::bigint as id, ${place.visibility}::int as visibility,
        ${JSON.stringify(place.kind === 'project' ? place.features : {})}::jsonb as feature_levels) subject,
      (select ${place.role}::int as role) membership`.execute(db)
  return found.rows[0]?.loaded.rows[0]
}

/** A discussion as it is now, whole. */
export async function discussionById(
  db: Reader,
  actor: Actor,
  id: number,
): Promise<DiscussionRow | undefined> {
  const found = await sql<{ json: DiscussionRow | null }>`
    select ${discussionJson} as json from ${actorRow(actor)}, discussions d where d.id = ${id}`.execute(db)
  return found.rows[0]?.json ?? undefined
}
