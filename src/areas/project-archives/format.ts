import type { Oid } from '../../git/index.ts'
import type { Position } from '../notes/index.ts'
import { fileRelations, isFileOf } from './files.ts'

/*
 * An archive is a gzipped tar with these files:
 *   VERSION            the version of this format
 *   project.json       the project itself
 *   tree/<name>.ndjson one record a line
 *   project.bundle     branches and tags, as `git bundle` writes them
 *   kept.bundle        commits that belong to merge requests and are on no branch
 *   wiki.bundle        branches of the wiki
 *   uploads/<secret>/<name>, lfs-objects/<id>  files that texts show, and large files beside the code
 */

export const formatVersion = '1.0'

export const relations = [
  'labels',
  'milestones',
  'issues',
  'merge_requests',
  'releases',
  'badges',
  'protected_branches',
  'protected_tags',
] as const
export type RelationName = (typeof relations)[number]

export const bundles = { project: 'project.bundle', kept: 'kept.bundle', wiki: 'wiki.bundle' } as const
export type BundleName = keyof typeof bundles
/** In the order in which they are taken. */
export const bundleNames = ['project', 'kept', 'wiki'] as const satisfies readonly BundleName[]

/** All that an archive may hold. Anything else in it is passed over, and nothing is ever named by what stands in it. */
const knownFiles: ReadonlySet<string> = new Set([
  'VERSION',
  'project.json',
  ...relations.map((name) => `tree/${name}.ndjson`),
  ...Object.values(bundles),
])
export const isKnown = (name: string): boolean =>
  knownFiles.has(name) || fileRelations.some((relation) => isFileOf(relation, name))

export interface ProjectRecord {
  readonly name: string
  readonly description: string | null
  readonly visibility: number
  readonly default_branch: string | null
  readonly topics: readonly string[]
}

export interface LabelRecord {
  readonly title: string
  readonly description: string | null
  readonly color: string
  readonly priority: number | null
}

export interface MilestoneRecord {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: 'active' | 'closed'
  readonly start_date: string | null
  readonly due_date: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface NoteRecord {
  readonly author: string | null
  readonly body: string
  readonly system: boolean
  readonly action: string | null
  readonly created_at: string
  readonly updated_at: string
  /** When it was resolved, and by whom: of threads of merge requests. */
  readonly resolved_at: string | null
  readonly resolved_by: string | null
}

export interface DiscussionRecord {
  readonly individual: boolean
  readonly internal: boolean
  /** It tells of code. */
  readonly needs_code: boolean
  /** Where in a diff it stands now, where it was begun, and where its line was when that was changed. */
  readonly position: Position | null
  readonly original_position: Position | null
  readonly change_position: Position | null
  readonly line_code: string | null
  readonly commit_id: string | null
  readonly notes: readonly NoteRecord[]
}

interface Happened {
  readonly user: string | null
  readonly created_at: string
}

/** What happened to an issue or merge request, and the time that was spent on it. */
export interface HistoryRecord {
  readonly states: readonly (Happened & { readonly state: string })[]
  /** `milestone`: its number; `state`: what the thing was then. */
  readonly milestones: readonly (Happened & {
    readonly action: string
    readonly state: string
    readonly milestone: number | null
  })[]
  readonly labels: readonly (Happened & { readonly action: string; readonly label: string | null })[]
  readonly times: readonly (Happened & {
    readonly seconds: number
    readonly summary: string | null
    readonly spent_at: string
  })[]
}

export interface IssueRecord {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly issue_type: string
  readonly confidential: boolean
  readonly due_date: string | null
  readonly weight: number | null
  readonly time_estimate: number
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly author: string | null
  /** Number of the milestone, of the project itself. */
  readonly milestone: number | null
  /** Titles of labels, of the project itself. */
  readonly labels: readonly string[]
  readonly assignees: readonly string[]
  readonly discussions: readonly DiscussionRecord[]
  readonly history: HistoryRecord
}

/** A push to the source of a merge request. */
export interface VersionRecord {
  readonly head: Oid
  /** Where the target branch was. */
  readonly start: Oid
  readonly created_at: string
}

export interface MergeRequestRecord {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed' | 'merged'
  readonly source_branch: string
  readonly target_branch: string
  /** The source is a branch of the project itself. */
  readonly own_source: boolean
  readonly squash: boolean
  readonly remove_source_branch: boolean | null
  readonly allow_collaboration: boolean
  readonly discussion_locked: boolean | null
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly merged_sha: string | null
  readonly time_estimate: number
  readonly created_at: string
  readonly updated_at: string
  readonly merged_at: string | null
  readonly closed_at: string | null
  readonly author: string | null
  readonly merged_by: string | null
  readonly closed_by: string | null
  readonly milestone: number | null
  readonly labels: readonly string[]
  readonly assignees: readonly string[]
  readonly reviewers: readonly { readonly username: string; readonly state: string }[]
  readonly approvals: readonly {
    readonly username: string
    readonly sha: string
    readonly created_at: string
  }[]
  /** Oldest first. */
  readonly versions: readonly VersionRecord[]
  readonly discussions: readonly DiscussionRecord[]
  readonly history: HistoryRecord
}

export interface ProtectedBranchRecord {
  readonly name: string
  readonly allow_force_push: boolean
  readonly code_owner_approval_required: boolean
  readonly levels: readonly {
    readonly action: 'push' | 'merge' | 'unprotect'
    readonly access_level: number
  }[]
}

export interface ProtectedTagRecord {
  readonly name: string
  readonly levels: readonly number[]
}

export interface ReleaseRecord {
  readonly tag: string
  readonly name: string | null
  readonly description: string | null
  readonly sha: Oid
  readonly author: string | null
  readonly created_at: string
  readonly released_at: string
  /** Numbers, of the project itself. */
  readonly milestones: readonly number[]
  readonly links: readonly {
    readonly name: string
    readonly url: string
    readonly filepath: string | null
    readonly link_type: string
  }[]
}

export interface BadgeRecord {
  readonly name: string | null
  readonly link_url: string
  readonly image_url: string
}

export interface Records {
  readonly labels: LabelRecord
  readonly milestones: MilestoneRecord
  readonly issues: IssueRecord
  readonly merge_requests: MergeRequestRecord
  readonly releases: ReleaseRecord
  readonly badges: BadgeRecord
  readonly protected_branches: ProtectedBranchRecord
  readonly protected_tags: ProtectedTagRecord
}
