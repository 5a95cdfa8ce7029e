import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { labelRows, type LabelDetailsRow } from '../labels/index.ts'
import { milestoneJson, type MilestoneRow } from '../milestones/index.ts'
import { pushedSha } from '../pipelines/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'
import { approvalsMissing, changesRequested } from './approvals/missing.ts'
import { commentCount, hasUnresolvedThreads } from './threads.ts'

/** A merge request with all that lists show of it. */
export interface MergeRequestRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  /** Null: the fork is gone. */
  readonly source_project_id: number | null
  readonly title: string
  readonly description: string | null
  readonly draft: boolean
  readonly state: 'opened' | 'closed' | 'locked' | 'merged'
  readonly source_branch: string
  readonly target_branch: string
  readonly source_gone: boolean
  readonly head_sha: string
  readonly base_sha: string | null
  readonly start_sha: string
  readonly version_id: number | null
  readonly merge_status: MergeStatus
  readonly checked_head: string | null
  readonly checked_target: string | null
  /** The target branch has commits that it lacks. */
  readonly diverged: boolean
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly merge_error: string | null
  readonly merge_after: string | null
  readonly squash: boolean
  readonly remove_source_branch: boolean | null
  readonly allow_collaboration: boolean
  readonly discussion_locked: boolean | null
  readonly auto_merge: boolean
  readonly merge_params: MergeParams
  readonly rebase_began_at: string | null
  readonly time_estimate: number
  readonly time_spent: number
  readonly created_at: string
  readonly updated_at: string
  readonly prepared_at: string | null
  readonly merged_at: string | null
  readonly closed_at: string | null
  readonly author_id: number | null
  readonly author: BasicUserRow | null
  readonly merge_user: BasicUserRow | null
  readonly closed_by: BasicUserRow | null
  readonly labels: readonly LabelDetailsRow[]
  readonly milestone: MilestoneRow | null
  readonly assignees: readonly BasicUserRow[]
  readonly reviewers: readonly BasicUserRow[]
  /** Of the project that it is to be merged into. */
  readonly project_path: string
  readonly project_settings: Readonly<Record<string, unknown>>
  readonly approvals_missing: boolean
  /** Of anybody, as the request itself asks for them. */
  readonly approvals_before_merge: number | null
  readonly changes_requested: boolean
  /** It waits for another request to be merged. */
  readonly blocked: boolean
  /** It changes files in Git LFS that others have locked, as was last found. */
  readonly locked_files: boolean
  /** Somebody else than its author has locked files of its project. */
  readonly others_lock: boolean
  readonly unresolved_threads: boolean
  readonly comments: number
  readonly upvotes: number
  readonly downvotes: number
  /** Status of the newest pipeline of its head; undefined where no rule asks for it. */
  readonly pipeline_status: string | null
}

export type MergeStatus =
  'preparing' | 'unchecked' | 'checking' | 'can_be_merged' | 'cannot_be_merged' | 'cannot_be_merged_recheck'

/** What was asked for when a merge was left to happen by itself. */
export interface MergeParams {
  readonly should_remove_source_branch?: boolean | undefined
  readonly merge_commit_message?: string | undefined
  readonly squash_commit_message?: string | undefined
  readonly squash?: boolean | undefined
}

/** The newest pipeline of the head of `m`, or of its merge: its own before those of the branch. */
export function headPipeline(columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${columns} from ci_pipelines p where p.id = coalesce((
      select own.id from ci_pipelines own
      where own.merge_request_id = m.id and ${pushedSha('own')} = m.head_sha and own.source <> 'parent_pipeline'
      order by own.id desc limit 1
    ), (
      select b.id from ci_pipelines b
      where b.project_id = m.source_project_id and b.sha = m.head_sha and b.source <> 'parent_pipeline'
        and b.merge_request_id is null and b.ref = m.source_branch and not b.tag
      order by b.id desc limit 1))`
}

const people = (table: 'merge_request_assignees' | 'merge_request_reviewers'): RawBuilder<unknown> => sql`
  coalesce((
    select json_agg(${basicUserJson('person')} order by listed.created_at, listed.user_id)
    from ${sql.table(table)} listed join users person on person.id = listed.user_id
    where listed.merge_request_id = m.id), '[]')`

const person = (column: string): RawBuilder<unknown> =>
  sql`(select ${basicUserJson('person')} from users person where person.id = ${sql.ref(`m.${column}`)})`

const othersLock = sql`coalesce((target.settings ->> 'lfs_enabled')::boolean, true) and exists (
  select from lfs_locks k where k.project_id = m.project_id and k.user_id is distinct from m.author_id)`

const isBlocked = sql`exists (
  select from merge_request_blocks b join merge_requests before on before.id = b.blocking_id
  where b.blocked_id = m.id and before.state <> 'merged')`

/** Of a merge request `m` whose project is `target`. */
export const mergeRequestColumns = sql`
  m.id, m.iid, m.project_id, m.source_project_id, m.title, m.description, m.draft, m.state, m.source_branch,
  m.target_branch, m.source_gone, m.head_sha, m.base_sha, m.start_sha, m.version_id, m.merge_status, m.checked_head,
  m.checked_target, m.diverged, m.merge_commit_sha, m.squash_commit_sha, m.merge_error, m.merge_after, m.squash,
  m.remove_source_branch, m.allow_collaboration, m.discussion_locked, m.auto_merge, m.merge_params, m.rebase_began_at,
  m.time_estimate, m.time_spent, m.created_at, m.updated_at, m.prepared_at, m.merged_at, m.closed_at, m.author_id,
  ${person('author_id')} as author, ${person('merge_user_id')} as merge_user, ${person('closed_by_id')} as closed_by,
  ${labelRows('MergeRequest', sql`m.id`)} as labels,
  (select ${milestoneJson(sql`planned.milestone_id`)} from (select m.milestone_id) planned) as milestone,
  ${people('merge_request_assignees')} as assignees, ${people('merge_request_reviewers')} as reviewers,
  target.full_path as project_path, target.settings as project_settings,
  m.state = 'opened' and ${approvalsMissing} as approvals_missing,
  (select r.approvals_required from approval_rules r
    where r.merge_request_id = m.id and r.rule_type = 'any_approver') as approvals_before_merge,
  m.state = 'opened' and ${changesRequested} as changes_requested, m.state = 'opened' and ${isBlocked} as blocked,
  m.state = 'opened' and m.locked_files as locked_files, m.state = 'opened' and ${othersLock} as others_lock,
  ${hasUnresolvedThreads} as unresolved_threads,
  ${commentCount} as comments, m.upvotes, m.downvotes,
  case when m.state = 'opened' and (target.settings ->> 'only_allow_merge_if_pipeline_succeeds')::boolean
    then (${headPipeline(sql`p.status`)}) end as pipeline_status`

export const mergeRequestSource = sql`merge_requests m join projects target on target.id = m.project_id`
