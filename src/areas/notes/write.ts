import { randomBytes } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import type { NoteableKind } from './noteables/noteable.ts'
import type { Anchor } from './positions/anchor.ts'
import { mostNotes, tooManyNotes, vanished } from './rules.ts'

/** The channel on which nodes tell one another of what changed: the payload is the noteable's row. */
export const channel = 'notes'

/** What a note is about, as it is stored. */
export interface Target {
  readonly kind: NoteableKind
  /** Null of a commit. */
  readonly id: number | null
  readonly sha?: string | null
  readonly projectId: number | null
  readonly namespaceId: number | null
}

/** What made the service write a note: the thing that mentioned the noteable. */
export interface Reference {
  readonly kind: NoteableKind
  readonly id: number | null
  readonly projectId: number | null
  readonly namespaceId: number | null
}

export interface NewDiscussion {
  readonly authorId: number | null
  readonly body: string
  /** A single comment, not yet a thread. */
  readonly individual: boolean
  readonly internal?: boolean
  readonly createdAt?: Date | undefined
  /** Of a note of the service: what it tells of. */
  readonly action?: string
  readonly reference?: Reference
  readonly needsCode?: boolean
  readonly anchor?: Anchor | undefined
  readonly commitId?: string | undefined
}

/** Where a note came to be. */
export interface Written {
  readonly noteableId: number
  readonly discussionId: number
  readonly noteId: number
}

/** The tables that keep for their rows when something was said about them last, and how much. */
const touched: Readonly<Partial<Record<NoteableKind, { table: string; counts: boolean }>>> = {
  Issue: { table: 'issues', counts: true },
  MergeRequest: { table: 'merge_requests', counts: false },
  Epic: { table: 'epics', counts: true },
  Snippet: { table: 'snippets', counts: false },
}

function touch(kind: NoteableKind, id: RawBuilder<unknown>, more: number): RawBuilder<unknown> {
  const found = touched[kind]
  if (found === undefined) return sql`select`
  const { table, counts } = found
  const count = counts ? sql`, user_notes_count = greatest(0, user_notes_count + ${more}::int)` : sql``
  return sql`update ${sql.table(table)} set updated_at = now() ${count} where id = ${id}`
}

/** The first note of a discussion. One statement; from it on the noteable is held until the transaction ends. */
export async function startDiscussion(tx: Tx, target: Target, note: NewDiscussion): Promise<Written> {
  const { kind, id, sha = null, projectId, namespaceId } = target
  const { action = null, internal = false, individual, anchor, commitId, reference } = note
  const json = (value: object | null | undefined): RawBuilder<unknown> =>
    sql`${value == null ? null : JSON.stringify(value)}::jsonb`
  const system = action !== null
  const byPeople = system || internal ? 0 : 1
  const conflict = kind === 'Commit' ? sql`(project_id, commit_sha)` : sql`(kind, target_id)`
  const at = sql`coalesce(${note.createdAt ?? null}::timestamptz, nb.at)`
  const written = await sql<Written>`
    with nb as (
      insert into noteables as x (kind, target_id, commit_sha, project_id, namespace_id, version, notes, user_notes,
        discussions, internal_discussions)
      values (${kind}, ${id}, ${sha}, ${projectId}, ${namespaceId}, 1, 1, ${byPeople}, 1, ${internal ? 1 : 0})
      on conflict ${conflict} do update set version = x.version + 1, notes = x.notes + 1,
        user_notes = x.user_notes + ${byPeople}, discussions = x.discussions + 1,
        internal_discussions = x.internal_discussions + ${internal ? 1 : 0}
      where x.notes < ${mostNotes} or ${system}
      returning x.id, x.version, clock_timestamp() as at),
    touched as (${touch(kind, sql`${id}`, byPeople)}),
    d as (
      insert into discussions (key, noteable_id, started_at, individual, internal, needs_code, ref_kind, ref_id,
        ref_project_id, ref_namespace_id, position, original_position, change_position, line_code, commit_id)
      select ${randomBytes(20).toString('hex')}, nb.id, ${at}, ${individual}, ${internal},
        ${note.needsCode ?? false}, ${reference?.kind ?? null}, ${reference?.id ?? null}::bigint,
        ${reference?.projectId ?? null}::bigint, ${reference?.namespaceId ?? null}::bigint,
        ${json(anchor?.current?.position ?? anchor?.position)}, ${json(anchor?.position)},
        ${json(anchor?.current?.change)}, ${anchor?.lineCode ?? null}, ${commitId ?? null}
      from nb returning id),
    n as (
      insert into notes (discussion_id, noteable_id, author_id, body, system, action, resolvable, created_version,
        version, created_at, updated_at)
      select d.id, nb.id, ${note.authorId}::bigint, ${note.body}, ${system}, ${action},
        ${kind === 'MergeRequest' && !individual && !system}, nb.version, nb.version, ${at}, ${at}
      from nb, d returning id)
    select nb.id as "noteableId", d.id as "discussionId", n.id as "noteId", pg_notify(${channel}, nb.id::text)
    from nb, d, n`.execute(tx)
  const row = written.rows[0]
  if (row === undefined) throw tooManyNotes()
  return row
}

interface Held {
  readonly version: number
  readonly kind: NoteableKind
  readonly target_id: number | null
  readonly notes: number
  readonly at: Date
}

/** Holds a noteable until the transaction ends, and begins a new version of it. */
async function hold(tx: Tx, noteableId: number): Promise<Held> {
  const held = await sql<Held>`
    update noteables set version = version + 1 where id = ${noteableId}
    returning version, kind, target_id, notes, clock_timestamp() as at`.execute(tx)
  const row = held.rows[0]
  if (row === undefined) throw vanished()
  return row
}

async function tell(tx: Tx, noteableId: number, { kind, target_id }: Held, more = 0): Promise<void> {
  await sql`
    with touched as (${touch(kind, sql`${target_id}`, more)})
    select pg_notify(${channel}, ${String(noteableId)})`.execute(tx)
}

/** A further note of a discussion; a single comment becomes a thread by it. */
export async function reply(
  tx: Tx,
  to: { readonly noteableId: number; readonly discussionId: number },
  note: {
    readonly authorId: number | null
    readonly body: string
    readonly createdAt?: Date | undefined
    readonly action?: string
  },
): Promise<Written> {
  const { noteableId, discussionId } = to
  const held = await hold(tx, noteableId)
  const system = note.action !== undefined
  if (held.notes >= mostNotes && !system) throw tooManyNotes()
  const at = note.createdAt ?? held.at
  const state = await sql<{ individual: boolean; internal: boolean; resolved: boolean }>`
    select d.individual, d.internal,
      exists (select from notes n where n.discussion_id = d.id and n.resolvable)
        and not exists (
          select from notes n where n.discussion_id = d.id and n.resolvable and n.resolved_at is null) as resolved
    from discussions d where d.id = ${discussionId}`.execute(tx)
  const thread = state.rows[0]
  if (thread === undefined) throw vanished()
  const { individual, internal, resolved } = thread
  const resolvable = held.kind === 'MergeRequest' && !system
  const byPeople = system || internal ? 0 : 1
  const written = await sql<{ id: number }>`
    with d as (
      update discussions set individual = false, started_at = least(started_at, ${at}) where id = ${discussionId}),
    first as (
      update notes set updated_at = ${held.at}, version = ${held.version},
        resolvable = not system and ${held.kind === 'MergeRequest'}
      where discussion_id = ${discussionId} and ${individual}),
    counted as (
      update noteables set notes = notes + 1, user_notes = user_notes + ${byPeople} where id = ${noteableId})
    insert into notes (discussion_id, noteable_id, author_id, body, system, action, resolvable, resolved_at,
      resolved_by_id, created_version, version, created_at, updated_at)
    values (${discussionId}, ${noteableId}, ${note.authorId}, ${note.body}, ${system}, ${note.action ?? null},
      ${resolvable}, ${resolvable && resolved ? at : null}, ${resolvable && resolved ? note.authorId : null},
      ${held.version}, ${held.version}, ${at}, ${at})
    returning id`.execute(tx)
  await tell(tx, noteableId, held, byPeople)
  return { noteableId, discussionId, noteId: written.rows[0]!.id }
}

export async function editNote(
  tx: Tx,
  noteableId: number,
  noteId: number,
  change: { readonly body: string; readonly by: number },
): Promise<void> {
  const held = await hold(tx, noteableId)
  const edited = await sql`
    update notes set body = ${change.body}, updated_at = ${held.at}, updated_by_id = ${change.by},
      version = ${held.version}
    where id = ${noteId} returning id`.execute(tx)
  if (edited.rows.length === 0) throw recordNotFound()
  await tell(tx, noteableId, held)
}

/** Tells those who follow that something about notes is shown otherwise now. */
export async function touchNotes(tx: Tx, noteableId: number, noteIds: readonly number[]): Promise<void> {
  const held = await hold(tx, noteableId)
  await sql`update notes set version = ${held.version} where id = any (${[...noteIds]}::bigint[])`.execute(tx)
  await tell(tx, noteableId, held)
}

/** The discussion goes with its last note. */
export async function deleteNote(tx: Tx, noteableId: number, noteId: number): Promise<void> {
  const held = await hold(tx, noteableId)
  const gone = await sql<{ discussion_id: number; key: string; internal: boolean; system: boolean }>`
    delete from notes n using discussions d where n.id = ${noteId} and d.id = n.discussion_id
    returning n.discussion_id, d.key, d.internal, n.system`.execute(tx)
  const note = gone.rows[0]
  if (note === undefined) throw recordNotFound()
  const byPeople = note.system || note.internal ? 0 : 1
  await sql`
    with rest as (
      select min(n.created_at) as started_at from notes n where n.discussion_id = ${note.discussion_id}),
    later as (
      update discussions set started_at = rest.started_at from rest
      where id = ${note.discussion_id} and rest.started_at is not null),
    ended as (
      delete from discussions using rest where id = ${note.discussion_id} and rest.started_at is null returning id),
    counted as (
      update noteables set notes = notes - 1, user_notes = user_notes - ${byPeople},
        discussions = discussions - (select count(*) from ended),
        internal_discussions = internal_discussions - (select count(*) from ended where ${note.internal})
      where id = ${noteableId})
    insert into deleted_notes (noteable_id, version, note_id, discussion_key, internal)
    values (${noteableId}, ${held.version}, ${noteId}, ${note.key}, ${note.internal})`.execute(tx)
  await tell(tx, noteableId, held, -byPeople)
}

/** Removes all that somebody has said; the discussions that he alone led go with it. */
export async function removeNotesOf(tx: Tx, userId: number): Promise<void> {
  const { rows } = await sql<{ id: number; noteable_id: number }>`
    select n.id, n.noteable_id from notes n where n.author_id = ${userId} order by n.noteable_id, n.id`.execute(
    tx,
  )
  for (const note of rows) await deleteNote(tx, note.noteable_id, note.id)
}

/** Which notes: a whole thread, or one note of it. */
export type Resolved = { readonly discussionId: number } | { readonly noteId: number }

/**
 * Resolves or opens again. What is so already stays as it is. `last`: nothing of the noteable is open any more, and
 * something was before.
 */
export async function resolveNotes(
  tx: Tx,
  noteableId: number,
  which: Resolved,
  change: { readonly resolved: boolean; readonly by: number | null },
): Promise<{ changed: boolean; last: boolean }> {
  const held = await hold(tx, noteableId)
  const { resolved, by } = change
  const those = 'noteId' in which ? sql`id = ${which.noteId}` : sql`discussion_id = ${which.discussionId}`
  const done = await sql`
    update notes set resolved_at = ${resolved ? held.at : null}, resolved_by_id = ${resolved ? by : null},
      updated_at = ${held.at}, version = ${held.version}
    where ${those} and resolvable and (resolved_at is null) = ${resolved} returning id`.execute(tx)
  if (done.rows.length === 0) return { changed: false, last: false }
  await tell(tx, noteableId, held)
  if (!resolved) return { changed: true, last: false }
  const open = await sql`
    select from notes where noteable_id = ${noteableId} and resolvable and resolved_at is null limit 1`.execute(
    tx,
  )
  return { changed: true, last: open.rows.length === 0 }
}
