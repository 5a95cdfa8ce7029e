import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../../kernel/db/index.ts'
import type { Position, TextPosition } from '../positions/position.ts'
import type { NewSuggestion } from './lines.ts'

/** As notes show it. */
export interface SuggestionRow {
  readonly id: number
  readonly above: number
  readonly below: number
  readonly from_content: string
  readonly to_content: string
  readonly applied: boolean
  readonly appliable: boolean
}

/** The suggestions of note `n` in discussion `d`; null of notes that stand at no line. */
export const suggestionsJson: RawBuilder<readonly SuggestionRow[] | null> = sql`
  case when d.position is not null then (
    select json_agg(json_build_object('id', s.id, 'above', s.lines_above, 'below', s.lines_below,
      'from_content', s.from_content, 'to_content', s.to_content, 'applied', s.applied_commit is not null,
      'appliable', s.applied_commit is null and not s.outdated and s.from_content <> s.to_content
        and d.change_position is null and exists (
          select from noteables about join merge_requests m on m.id = about.target_id
          where about.id = n.noteable_id and about.kind = 'MergeRequest' and m.state = 'opened' and not m.source_gone
            and m.head_sha = d.position ->> 'head_sha')) order by s.number)
    from suggestions s where s.note_id = n.id) end`

/** What a note proposes from now on; what was applied stays on record. */
export async function putSuggestions(
  tx: Tx,
  noteId: number,
  suggestions: readonly NewSuggestion[],
): Promise<void> {
  await sql`delete from suggestions where note_id = ${noteId} and applied_commit is null`.execute(tx)
  if (suggestions.length === 0) return
  await sql`
    insert into suggestions (note_id, number, lines_above, lines_below, from_content, to_content)
    select ${noteId}, s.place, s.above, s.below, s."from", s."to"
    from jsonb_to_recordset(${JSON.stringify(suggestions.map((one, place) => ({ place, ...one })))}::jsonb)
      s (place integer, above integer, below integer, "from" text, "to" text)
    on conflict (note_id, number) do nothing`.execute(tx)
}

/** Where threads stand. */
export async function positionsOf(
  db: Reader,
  discussionIds: readonly number[],
): Promise<Map<number, Position | null>> {
  const { rows } = await sql<{ id: number; position: Position | null }>`
    select d.id, d.position from discussions d where d.id = any (${[...discussionIds]}::bigint[])`.execute(db)
  return new Map(rows.map(({ id, position }) => [id, position]))
}

/** Who proposed a change, as commits name him. */
export interface SuggestionAuthor {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly commitEmail: string | null
}

/** A suggestion with all that decides whether it can be applied, and how. */
export interface AppliedRow extends SuggestionRow {
  readonly outdated: boolean
  readonly note_id: number
  readonly noteable_id: number
  readonly author_id: number | null
  readonly author: SuggestionAuthor | null
  readonly discussion_id: number
  readonly internal: boolean
  readonly position: TextPosition
  readonly request_id: number
  readonly request_author_id: number | null
  readonly state: string
  readonly project_id: number
  readonly source_project_id: number | null
  readonly source_branch: string
  readonly source_gone: boolean
  /** Of the project that the request is made to. */
  readonly message: string | null
}

/** In the order of their ids. */
export async function findSuggestions(db: Reader, ids: readonly number[]): Promise<AppliedRow[]> {
  const { rows } = await sql<AppliedRow>`
    select s.id, s.lines_above as above, s.lines_below as below, s.from_content, s.to_content,
      s.applied_commit is not null as applied, false as appliable, s.outdated, s.note_id, n.noteable_id, n.author_id,
      case when u.id is not null then json_build_object('id', u.id, 'username', u.username, 'name', u.name,
        'email', u.email, 'commitEmail', u.commit_email) end as author, d.id as discussion_id, d.internal,
      d.position, m.id as request_id, m.author_id as request_author_id, m.state,
      m.project_id, m.source_project_id, m.source_branch, m.source_gone,
      p.settings ->> 'suggestion_commit_message' as message
    from suggestions s join notes n on n.id = s.note_id join discussions d on d.id = n.discussion_id
      join noteables about on about.id = n.noteable_id and about.kind = 'MergeRequest'
      join merge_requests m on m.id = about.target_id join projects p on p.id = m.project_id
      left join users u on u.id = n.author_id
    where s.id = any (${[...ids]}::bigint[]) order by s.id`.execute(db)
  return rows
}

export async function markOutdated(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`update suggestions set outdated = true where id = any (${[...ids]}::bigint[])`.execute(tx)
}
