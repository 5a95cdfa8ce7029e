import { sql, type Reader, type Tx } from '../../../kernel/db/index.ts'
import type { PageInput } from '../../../kernel/endpoint/index.ts'
import type { Anchor } from '../positions/anchor.ts'
import type { DraftRow } from './entities.ts'

/** Whose drafts, on which merge request. */
export interface Review {
  readonly authorId: number
  readonly requestId: number
}

const columns = sql`
  w.id, w.author_id, w.merge_request_id, w.resolve_discussion, w.discussion_id as thread_id, d.key as discussion_id,
  w.note, w.commit_id, w.line_code, w.position`
const source = sql`draft_notes w left join discussions d on d.id = w.discussion_id`
const of = ({ authorId, requestId }: Review) =>
  sql`w.author_id = ${authorId} and w.merge_request_id = ${requestId}`

export async function list(
  db: Reader,
  review: Review,
  { limit, offset }: PageInput,
): Promise<{ rows: DraftRow[]; total: number }> {
  const { rows } = await sql<{ rows: DraftRow[] | null; total: number }>`
    select
      (select json_agg(r) from (
        select ${columns} from ${source} where ${of(review)} order by w.id limit ${limit} offset ${offset}) r) as rows,
      (select count(*) from draft_notes w where ${of(review)}) as total`.execute(db)
  return { rows: rows[0]!.rows ?? [], total: rows[0]!.total }
}

export async function find(db: Reader | Tx, review: Review, id: number): Promise<DraftRow | undefined> {
  const { rows } = await sql<{ row: DraftRow }>`
    select to_json(r) as row from (select ${columns} from ${source} where ${of(review)} and w.id = ${id}) r`.execute(
    db,
  )
  return rows[0]?.row
}

export interface NewDraft {
  readonly note: string
  readonly threadId: number | null
  readonly resolve: boolean
  readonly commitId: string | null
  readonly anchor: Anchor | undefined
}

export async function insert(tx: Tx, { authorId, requestId }: Review, draft: NewDraft): Promise<number> {
  const { note, threadId, resolve, commitId, anchor } = draft
  const { rows } = await sql<{ id: number }>`
    insert into draft_notes (author_id, merge_request_id, discussion_id, note, resolve_discussion, commit_id, line_code,
      position)
    values (${authorId}, ${requestId}, ${threadId}, ${note}, ${resolve}, ${commitId}, ${anchor?.lineCode ?? null},
      ${anchor === undefined ? null : JSON.stringify(anchor.position)}::jsonb)
    returning id`.execute(tx)
  return rows[0]!.id
}

/** Who is asked for a review and writes a draft has begun it. */
export async function beginReview(tx: Tx, { authorId, requestId }: Review): Promise<void> {
  await sql`
    update merge_request_reviewers x set state = 'review_started'
    where x.merge_request_id = ${requestId} and x.user_id = ${authorId} and x.state = 'unreviewed'`.execute(
    tx,
  )
}

export async function change(
  tx: Tx,
  id: number,
  { note, anchor }: { readonly note: string | undefined; readonly anchor: Anchor | undefined },
): Promise<void> {
  await sql`
    update draft_notes set note = coalesce(${note ?? null}, note)
      ${
        anchor === undefined
          ? sql``
          : sql`, position = ${JSON.stringify(anchor.position)}::jsonb, line_code = ${anchor.lineCode ?? null}`
      }
    where id = ${id}`.execute(tx)
}

/** Takes drafts away, and gives them in their order: one of them, or all. Who comes second gets none. */
export async function take(tx: Tx, review: Review, id?: number): Promise<DraftRow[]> {
  const { rows } = await sql<{ row: DraftRow }>`
    with taken as (
      delete from draft_notes w where ${of(review)} and ${id === undefined ? sql`true` : sql`w.id = ${id}`}
      returning w.*)
    select to_json(r) as row from (
      select ${columns} from taken w left join discussions d on d.id = w.discussion_id order by w.id) r`.execute(
    tx,
  )
  return rows.map(({ row }) => row)
}
