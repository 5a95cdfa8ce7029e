import { sql, type Reader } from '../../kernel/db/index.ts'

/*
 * Where things lie that are named by a global id alone, so that the API can be asked for them. Whether the caller may
 * know of them the API says.
 */

export type NoteableKind = 'Issue' | 'MergeRequest'

export interface NoteablePlace {
  readonly kind: NoteableKind
  readonly project_id: number
  readonly iid: number
}

export interface DiscussionPlace extends NoteablePlace {
  readonly key: string
}

const places = sql`(
  select 'Issue' as kind, i.id, i.project_id, i.iid from issues i
  union all
  select 'MergeRequest', m.id, m.project_id, m.iid from merge_requests m)`

export async function noteableById(
  db: Reader,
  { type, id }: { readonly type: NoteableKind; readonly id: number },
): Promise<NoteablePlace | undefined> {
  const { rows } = await sql<NoteablePlace>`
    select place.kind, place.project_id, place.iid from ${places} place
    where place.kind = ${type} and place.id = ${id}`.execute(db)
  return rows[0]
}

export async function discussionByKey(db: Reader, key: string): Promise<DiscussionPlace | undefined> {
  const { rows } = await sql<DiscussionPlace>`
    select d.key, place.kind, place.project_id, place.iid
    from discussions d
    join noteables x on x.id = d.noteable_id
    join ${places} place on place.kind = x.kind and place.id = x.target_id
    where d.key = ${key}`.execute(db)
  return rows[0]
}

export async function discussionOfNote(db: Reader, noteId: number): Promise<DiscussionPlace | undefined> {
  const { rows } = await sql<DiscussionPlace>`
    select d.key, place.kind, place.project_id, place.iid
    from notes note
    join discussions d on d.id = note.discussion_id
    join noteables x on x.id = note.noteable_id
    join ${places} place on place.kind = x.kind and place.id = x.target_id
    where note.id = ${noteId}`.execute(db)
  return rows[0]
}

/** Null of personal ones, and where there is none. */
export async function projectOfSnippet(db: Reader, id: number): Promise<number | null> {
  const { rows } = await sql<{ project_id: number | null }>`
    select s.project_id from snippets s where s.id = ${id}`.execute(db)
  return rows[0]?.project_id ?? null
}
