import { sql, type Reader, type Tx, type Writer } from '../../../kernel/db/index.ts'
import type { Oid } from '../../../git/index.ts'
import type { NotesRoom } from '../index.ts'
import { touchNotes } from '../write.ts'

/** A commit that applies suggestions of one merge request. */
export interface Attempt {
  readonly requestId: number
  readonly projectId: number
  readonly noteableId: number
  readonly commit: Oid
  /** Null: he who made it is gone. */
  readonly userId: number | null
  /** He may resolve the threads. */
  readonly resolves: boolean
  readonly suggestions: readonly {
    readonly id: number
    readonly note_id: number
    readonly discussion_id: number
  }[]
}

const idsOf = ({ suggestions }: Attempt): number[] => suggestions.map(({ id }) => id)

export async function beginAttempt(db: Writer, attempt: Attempt): Promise<void> {
  await sql`
    insert into suggestion_attempts (suggestion_id, commit_sha, user_id, resolves)
    select s.id, ${attempt.commit}, ${attempt.userId}::bigint, ${attempt.resolves}
    from unnest(${idsOf(attempt)}::bigint[]) s (id)
    on conflict do nothing`.execute(db)
}

export async function dropAttempt(db: Writer, attempt: Attempt): Promise<void> {
  await sql`
    delete from suggestion_attempts
    where suggestion_id = any (${idsOf(attempt)}::bigint[]) and commit_sha = ${attempt.commit}`.execute(db)
}

/** The suggestions are on record as applied, and their threads resolved by who may do that. Once, whoever comes first. */
export async function settle(
  { db, writer }: Pick<NotesRoom, 'db' | 'writer'>,
  attempt: Attempt,
): Promise<void> {
  const { requestId, projectId, noteableId, userId, resolves } = attempt
  await db.transaction(async (tx) => {
    const marked = new Set(await markApplied(tx, attempt))
    const applied = attempt.suggestions.filter(({ id }) => marked.has(id))
    if (applied.length === 0) return
    await touchNotes(
      tx,
      noteableId,
      applied.map(({ note_id: id }) => id),
    )
    if (!resolves || userId === null) return
    const target = { kind: 'MergeRequest', id: requestId, projectId, namespaceId: null } as const
    const found = { noteable_id: noteableId }
    for (const discussionId of new Set(applied.map((row) => row.discussion_id)))
      await writer.resolveIn(tx, userId, { target, found }, { discussionId }, true)
  })
}

async function markApplied(tx: Tx, attempt: Attempt): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with over as (delete from suggestion_attempts where suggestion_id = any (${idsOf(attempt)}::bigint[]))
    update suggestions set applied_commit = ${attempt.commit}
    where id = any (${idsOf(attempt)}::bigint[]) and applied_commit is null returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Whose attempts: of some suggestions, or of all of a merge request. */
export type Unfinished = { readonly suggestionIds: readonly number[] } | { readonly requestId: number }

/**
 * Settles what was left: attempts whose commit is in the branch, as `isIn` says. An attempt that came to nothing stays
 * until its suggestion is applied or goes. Says whether there was something to settle.
 */
export async function finishAttempts(
  room: Pick<NotesRoom, 'db' | 'writer'>,
  which: Unfinished,
  isIn: (commit: Oid) => Promise<boolean>,
): Promise<boolean> {
  let settled = false
  for (const attempt of await unfinished(room.db.reader, which)) {
    if (!(await isIn(attempt.commit))) continue
    await settle(room, attempt)
    settled = true
  }
  return settled
}

async function unfinished(db: Reader, which: Unfinished): Promise<Attempt[]> {
  const those =
    'requestId' in which
      ? sql`about.target_id = ${which.requestId}`
      : sql`a.suggestion_id = any (${[...which.suggestionIds]}::bigint[])`
  const { rows } = await sql<Attempt>`
    select about.target_id as "requestId", about.project_id as "projectId", about.id as "noteableId",
      a.commit_sha as "commit", a.user_id as "userId", a.resolves,
      json_agg(json_build_object('id', s.id, 'note_id', s.note_id, 'discussion_id', n.discussion_id)) as suggestions
    from suggestion_attempts a join suggestions s on s.id = a.suggestion_id join notes n on n.id = s.note_id
      join noteables about on about.id = n.noteable_id and about.kind = 'MergeRequest'
    where s.applied_commit is null and ${those}
    group by about.id, a.commit_sha, a.user_id, a.resolves
    order by a.commit_sha`.execute(db)
  return rows
}
