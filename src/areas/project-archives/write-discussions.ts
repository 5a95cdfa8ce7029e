import { randomBytes } from 'node:crypto'
import { sql, type Tx } from '../../kernel/db/index.ts'
import type { DiscussionRecord } from './format.ts'
import { signed, userNamed, type Target } from './target.ts'

/** Those records that were made here, with their ids. */
export function madeOf<Record extends { readonly iid: number }>(
  made: readonly { readonly id: number; readonly iid: number }[],
  records: readonly Record[],
): (Record & { readonly id: number })[] {
  const ids = new Map(made.map(({ id, iid }) => [iid, id]))
  return records.flatMap((record) => {
    const id = ids.get(record.iid)
    // Of two records with one number only the first was taken.
    ids.delete(record.iid)
    return id === undefined ? [] : [{ ...record, id }]
  })
}

/** Writes down what was said about things that nobody has said anything about here. */
export async function writeDiscussions(
  tx: Tx,
  target: Target,
  kind: 'Issue' | 'MergeRequest',
  discussed: readonly { readonly id: number; readonly discussions: readonly DiscussionRecord[] }[],
): Promise<void> {
  const { projectId, asOthers } = target
  const rows = discussed.flatMap(({ id, discussions }) =>
    discussions.map((discussion) => ({
      target: id,
      ...discussion,
      // Not to be guessed.
      key: randomBytes(20).toString('hex'),
      notes: discussion.notes.map((note) => ({
        ...note,
        body: asOthers || note.system ? note.body : signed(note.body, note.author)!,
      })),
    })),
  )
  if (rows.length === 0) return
  const resolvable = sql`(${kind} = 'MergeRequest' and not n.individual and not n.system)`
  await sql`
    with said as (
      select d.*, nextval(pg_get_serial_sequence('discussions', 'id')) as id
      from jsonb_array_elements(${JSON.stringify(rows)}) with ordinality g (value, at)
      cross join lateral jsonb_to_record(g.value) d (target bigint, key text, individual boolean, internal boolean,
        needs_code boolean, position jsonb, original_position jsonb, change_position jsonb, line_code text,
        commit_id text, notes jsonb)
      order by g.at
    ), written as (
      select s.target, s.id, s.internal, s.individual, n.*, g.at from said s
      cross join lateral jsonb_array_elements(s.notes) with ordinality g (value, at)
      cross join lateral jsonb_to_record(g.value) n (author text, body text, system boolean, action text,
        created_at timestamptz, updated_at timestamptz, resolved_at timestamptz, resolved_by text)
    ), noteable as (
      insert into noteables (kind, target_id, project_id, version, notes, user_notes, discussions, internal_discussions)
      select ${kind}, w.target, ${projectId}::bigint, 1, count(*),
        count(*) filter (where not w.system and not w.internal),
        count(distinct w.id), count(distinct w.id) filter (where w.internal)
      from written w group by w.target
      returning id, target_id
    ), begun as (
      insert into discussions (id, key, noteable_id, started_at, individual, internal, needs_code, position,
        original_position, change_position, line_code, commit_id)
      overriding system value
      select s.id, s.key, x.id, (s.notes -> 0 ->> 'created_at')::timestamptz, s.individual, s.internal, s.needs_code,
        nullif(s.position, 'null'), nullif(s.original_position, 'null'), nullif(s.change_position, 'null'),
        s.line_code, s.commit_id
      from said s join noteable x on x.target_id = s.target
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system, action, resolvable, resolved_at,
      resolved_by_id, created_version, version, created_at, updated_at)
    select n.id, x.id, ${userNamed(target, sql`n.author`)}, n.body, n.system, n.action, ${resolvable},
      case when ${resolvable} then n.resolved_at end,
      case when ${resolvable} and n.resolved_at is not null then ${userNamed(target, sql`n.resolved_by`)} end,
      1, 1, n.created_at, n.updated_at
    from written n join noteable x on x.target_id = n.target
    order by n.id, n.at`.execute(tx)
}
