import { discussionVisible, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import { mergeRequestNoteable as noteable } from './noteables/kinds.ts'
import { opened, readNow, type Opened } from './read.ts'
import { resolveThreads } from './resolving.ts'
import { mayIn } from './rules.ts'
import { reply, type Target } from './write.ts'

/** A thread of a merge request as it began. */
export interface ContinuedThread {
  readonly id: number
  readonly open: boolean
  readonly internal: boolean
  readonly body: string
  /** Username; null of somebody who is gone. */
  readonly author: string | null
}

/** Threads of a merge request that are to go on in an issue. */
export interface ContinuedThreads {
  readonly target: Target
  readonly noteableId: number | null
  readonly threads: readonly ContinuedThread[]
}

/**
 * The threads of a merge request that the caller sees and may resolve: the one of that key, or all that are open. 404
 * where there is no such request or thread for him.
 */
export async function threadsToContinue(
  db: Reader,
  actor: Actor,
  project: ProjectSubject,
  { iid, key }: { readonly iid: number; readonly key: string | undefined },
): Promise<ContinuedThreads> {
  const open = sql`exists (
    select from notes n where n.discussion_id = d.id and n.resolvable and n.resolved_at is null)`
  const read = opened<ContinuedThread>(
    noteable,
    iid,
    sql`(
      select json_agg(json_build_object('id', d.id, 'open', ${open}, 'internal', d.internal, 'body', first.body,
        'author', u.username) order by d.started_at, d.id)
      from discussions d
        cross join lateral (
          select n.body, n.author_id from notes n where n.discussion_id = d.id
          order by n.created_at, n.id limit 1) first
        left join users u on u.id = first.author_id
      where d.noteable_id = nb.id and ${discussionVisible}
        and ${key === undefined ? open : sql`d.key = ${key.toLowerCase()}`})`,
  )
  const found = noteable.mayRead(actor, project)
    ? await readNow<Opened<ContinuedThread>>(db, actor, project, read)
    : undefined
  if (found === undefined) throw notFound(noteable.kind)
  const threads = (found.items ?? []).filter((thread) => thread !== null)
  if (key !== undefined && threads.length === 0) throw notFound('Discussion')
  const mine = found.author_id === userOf(actor).id
  const may =
    (mine || mayIn(actor, 'resolve_note', project)) &&
    (!found.locked || mayIn(actor, 'write_locked_discussion', project))
  return {
    target: { kind: noteable.kind, id: found.target_id, projectId: project.id, namespaceId: null },
    noteableId: found.noteable_id,
    threads: may ? threads.filter((thread) => thread.open) : [],
  }
}

/** Resolves threads in favour of an issue, which each of them names. */
export async function continueThreads(
  events: Events,
  tx: Tx,
  { target, noteableId, threads }: ContinuedThreads,
  { by, issue }: { readonly by: number; readonly issue: string },
): Promise<void> {
  if (noteableId === null) return
  for (const { id: discussionId } of threads) {
    const body = `created ${issue} to continue this discussion`
    await reply(tx, { noteableId, discussionId }, { authorId: by, body, action: 'discussion' })
    await resolveThreads(events, tx, { target, noteableId }, { discussionId }, { resolved: true, by })
  }
}
