import { sql } from '../../kernel/db/index.ts'

/*
 * What the comments on merge request `m` say about it, in SQL: the one place where the discussions are asked.
 */

const ofRequest = sql`nb.kind = 'MergeRequest' and nb.target_id = m.id`

/** Whether a thread that can be resolved is open. */
export const hasUnresolvedThreads = sql`exists (
  select from noteables nb join notes n on n.noteable_id = nb.id
  where ${ofRequest} and n.resolvable and n.resolved_at is null)`

export const commentCount = sql`coalesce((select nb.user_notes from noteables nb where ${ofRequest}), 0)`

/** Ids of those who wrote a comment that everybody reads. */
export const commenters = sql`
  select n.author_id from noteables nb join notes n on n.noteable_id = nb.id join discussions d on d.id = n.discussion_id
  where ${ofRequest} and not n.system and not d.internal and n.author_id is not null`
