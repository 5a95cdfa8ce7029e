import { randomBytes } from 'node:crypto'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { labelsNamed } from '../labels/index.ts'
import type { Target } from './system-notes.ts'

const noteColumns = sql`
  n.author_id, n.updated_by_id, n.body, n.system, n.action, n.resolvable, n.resolved_at, n.resolved_by_id,
  n.created_at, n.updated_at`

const tables = { Issue: sql`issues`, Epic: sql`epics` }

/** What was made of an issue. */
export type CopyTarget = Target & { readonly kind: keyof typeof tables; readonly id: number }

/** Copies what was said about an issue to what was made of it, with the reactions to it. */
export async function copyDiscussions(tx: Tx, from: number, to: CopyTarget): Promise<void> {
  // Keys are not to be guessed, so they are not derived from the old ones in the database.
  const { rows } = await sql<{ id: number }>`
    select d.id from noteables nb join discussions d on d.noteable_id = nb.id
    where nb.kind = 'Issue' and nb.target_id = ${from} order by d.started_at, d.id`.execute(tx)
  if (rows.length === 0) return
  const keys = rows.map(({ id }) => ({ id, key: randomBytes(20).toString('hex') }))
  await sql`
    with nb as (
      insert into noteables as x (kind, target_id, project_id, namespace_id, version, notes, user_notes, discussions,
        internal_discussions)
      select ${to.kind}, ${to.id}::bigint, ${to.projectId}::bigint, ${to.namespaceId}::bigint, 1, o.notes,
        o.user_notes, o.discussions, o.internal_discussions
      from noteables o where o.kind = 'Issue' and o.target_id = ${from}
      on conflict (kind, target_id) do update set version = x.version + 1, notes = x.notes + excluded.notes,
        user_notes = x.user_notes + excluded.user_notes, discussions = x.discussions + excluded.discussions,
        internal_discussions = x.internal_discussions + excluded.internal_discussions
      returning x.id, x.version
    ), given as (
      select k.id, k.key from jsonb_to_recordset(${JSON.stringify(keys)}) k (id bigint, key text)
    ), d as (
      insert into discussions (key, noteable_id, started_at, individual, internal, needs_code, ref_kind, ref_id,
        ref_project_id, ref_namespace_id)
      select given.key, nb.id, o.started_at, o.individual, o.internal, o.needs_code, o.ref_kind, o.ref_id,
        o.ref_project_id, o.ref_namespace_id
      from given join discussions o on o.id = given.id, nb order by o.started_at, o.id
      returning id, key
    ), copied as (
      select n.id as old_id, nextval(pg_get_serial_sequence('notes', 'id')) as new_id, d.id as discussion_id
      from given join d on d.key = given.key join notes n on n.discussion_id = given.id order by n.created_at, n.id
    ), made as (
      insert into notes (id, discussion_id, noteable_id, author_id, updated_by_id, body, system, action, resolvable,
        resolved_at, resolved_by_id, created_at, updated_at, created_version, version)
      overriding system value
      select c.new_id, c.discussion_id, nb.id, ${noteColumns}, nb.version, nb.version
      from copied c join notes n on n.id = c.old_id, nb order by c.new_id
      returning id
    ), counted as (
      update ${tables[to.kind]} i set user_notes_count = i.user_notes_count + o.user_notes
      from noteables o where o.kind = 'Issue' and o.target_id = ${from} and i.id = ${to.id}
    )
    insert into award_emoji (awardable_kind, awardable_id, user_id, name, created_at, updated_at)
    select 'Note', c.new_id, a.user_id, a.name, a.created_at, a.updated_at
    from copied c join made on made.id = c.new_id
      join award_emoji a on a.awardable_kind = 'Note' and a.awardable_id = c.old_id
    order by a.id`.execute(tx)
}

/** Copies the reactions to an issue. */
export async function copyAwards(tx: Tx, from: number, { kind, id }: CopyTarget): Promise<void> {
  await sql`
    with awards as (
      insert into award_emoji (awardable_kind, awardable_id, user_id, name, created_at, updated_at)
      select ${kind}, ${id}::bigint, a.user_id, a.name, a.created_at, a.updated_at from award_emoji a
      where a.awardable_kind = 'Issue' and a.awardable_id = ${from} order by a.id)
    update ${tables[kind]} i set upvotes = o.upvotes, downvotes = o.downvotes from issues o
    where i.id = ${id} and o.id = ${from}`.execute(tx)
}

/** Copies who wants to hear of an issue, or does not. */
export async function copySubscriptions(tx: Tx, from: number, { kind, id }: CopyTarget): Promise<void> {
  await sql`
    insert into subscriptions (user_id, subscribable_type, subscribable_id, subscribed)
    select s.user_id, ${kind}, ${id}::bigint, s.subscribed from subscriptions s
    where s.subscribable_type = 'Issue' and s.subscribable_id = ${from} on conflict do nothing`.execute(tx)
}

/** Those labels of an issue, by their titles, that are known in another place. */
export async function labelsOf(
  tx: Tx,
  id: number,
  place: Parameters<typeof labelsNamed>[1],
): ReturnType<typeof labelsNamed> {
  const { rows } = await sql<{ title: string }>`
    select l.title from noteable_labels x join labels l on l.id = x.label_id
    where x.noteable_type = 'Issue' and x.noteable_id = ${id}`.execute(tx)
  return labelsNamed(
    tx,
    place,
    rows.map(({ title }) => title),
    false,
  )
}

/** Copies the record of an issue's labels, states, milestones and weights to another issue. */
export async function copyRecords(tx: Tx, from: number, to: number): Promise<void> {
  for (const [table, columns] of Object.entries(recorded)) {
    const names = sql.join(columns.map((column) => sql.ref(column)))
    await sql`
      insert into ${sql.table(table)} (noteable_type, noteable_id, user_id, created_at, ${names})
      select 'Issue', ${to}::bigint, user_id, created_at, ${names} from ${sql.table(table)}
      where noteable_type = 'Issue' and noteable_id = ${from} order by id`.execute(tx)
  }
}

const recorded: Readonly<Record<string, readonly string[]>> = {
  resource_label_events: ['label_id', 'action'],
  resource_milestone_events: ['milestone_id', 'action', 'state'],
  resource_state_events: ['state', 'source_commit', 'source_merge_request_id'],
  resource_weight_events: ['weight'],
}
