import { sql } from '../kernel/db/index.ts'
import { Role } from './levels.ts'

/*
 * Which discussions `d` of a noteable that the caller reads he sees, as SQL beside `actor`, `subject` and `membership`.
 */

/** Whether the caller reads internal notes of the subject. */
export const readsInternalNotes = sql`(actor.admin or membership.role >= ${sql.lit(Role.planner)})`

/** What mentioned the noteable must be readable itself (migration 0141). */
const referenceVisible = sql`(
  d.ref_kind is null or sees_reference(d.ref_kind, d.ref_id, d.ref_project_id, actor.id, coalesce(actor.admin, false),
    coalesce(actor.external, true)))`

/** Of projects: Guests of private ones do not read code. */
const codeVisible = sql`(
  not d.needs_code or actor.admin or membership.role >= ${sql.lit(Role.planner)}
  or coalesce((to_jsonb(subject) ->> 'visibility')::int, 0) > 0)`

export const openDiscussion = sql`(${referenceVisible} and ${codeVisible})`
export const discussionVisible = sql`((not d.internal or ${readsInternalNotes}) and ${openDiscussion})`
