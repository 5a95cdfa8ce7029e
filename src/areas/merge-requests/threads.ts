import { sql } from 'kysely'

/*
 * What the comments on merge request `m` say about it, in SQL: the one place where the discussions are asked.
 */

/** Whether a thread that can be resolved is open. */
export const hasUnresolvedThreads = sql`false`

export const commentCount = sql`0`

/** Reactions by name, as `{"thumbsup": 1}`. */
export const reactionCounts = sql`'{}'::json`

/** Ids of those who wrote a comment. */
export const commenters = sql`select null::bigint where false`
