/*
 * An archive is a gzipped tar with these files:
 *   VERSION            the version of this format
 *   project.json       the project itself
 *   tree/<name>.ndjson one record a line
 *   project.bundle     branches and tags, as `git bundle` writes them
 *   wiki.bundle        the same of the wiki
 */

export const formatVersion = '1.0'

export const relations = ['labels', 'milestones', 'issues', 'protected_branches'] as const
export type RelationName = (typeof relations)[number]

export const bundles = { project: 'project.bundle', wiki: 'wiki.bundle' } as const

/** All that an archive may hold. Anything else in it is passed over, and nothing is ever named by what stands in it. */
export const knownFiles: ReadonlySet<string> = new Set([
  'VERSION',
  'project.json',
  ...relations.map((name) => `tree/${name}.ndjson`),
  ...Object.values(bundles),
])

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
}

export interface DiscussionRecord {
  readonly individual: boolean
  readonly internal: boolean
  readonly notes: readonly NoteRecord[]
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

export interface Records {
  readonly labels: LabelRecord
  readonly milestones: MilestoneRecord
  readonly issues: IssueRecord
  readonly protected_branches: ProtectedBranchRecord
}
