// What the API answers, as far as the pages show it.

export interface Person {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly avatar_url: string | null
}

export interface Me extends Person {
  readonly is_admin?: boolean
  readonly can_create_project: boolean
  readonly can_create_group: boolean
}

export interface Member extends Person {
  readonly access_level: number
  /** A day, as `2030-12-31`. */
  readonly expires_at: string | null
}

type Access = 'disabled' | 'private' | 'enabled' | 'public'

export interface Project {
  readonly id: number
  readonly name: string
  readonly name_with_namespace: string
  readonly path_with_namespace: string
  readonly description: string | null
  readonly default_branch: string | null
  readonly visibility: 'private' | 'internal' | 'public'
  readonly http_url_to_repo: string
  readonly ssh_url_to_repo: string
  readonly avatar_url: string | null
  readonly star_count: number
  readonly forks_count: number
  readonly last_activity_at: string
  readonly topics: readonly string[]
  readonly archived?: boolean
  readonly empty_repo?: boolean
  readonly forked_from_project?: Pick<Project, 'id' | 'path_with_namespace' | 'name_with_namespace'> | null
  readonly namespace: { readonly kind: 'user' | 'group'; readonly full_path: string; readonly name: string }
  readonly repository_access_level?: Access
  readonly issues_access_level?: Access
  readonly merge_requests_access_level?: Access
  readonly builds_access_level?: Access
  readonly environments_access_level?: Access
  readonly releases_access_level?: Access
  readonly wiki_access_level?: Access
  readonly can_create_merge_request_in?: boolean
}

export interface Group {
  readonly id: number
  readonly name: string
  readonly full_name: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: 'private' | 'internal' | 'public'
  readonly avatar_url: string | null
  readonly wiki_access_level?: Access
}

export interface Commit {
  readonly id: string
  readonly short_id: string
  readonly title: string
  readonly message: string
  readonly author_name: string
  readonly author_email: string
  readonly authored_date: string
  readonly committed_date: string
  readonly parent_ids: readonly string[]
}

export interface TreeEntry {
  readonly id: string
  readonly name: string
  readonly type: 'tree' | 'blob' | 'commit'
  readonly path: string
  readonly mode: string
}

export interface FileDiff {
  readonly old_path: string
  readonly new_path: string
  readonly new_file: boolean
  readonly deleted_file: boolean
  readonly renamed_file: boolean
  readonly diff: string
  readonly too_large?: boolean | null
  readonly collapsed?: boolean | null
}

export interface Branch {
  readonly name: string
  readonly merged: boolean
  readonly protected: boolean
  readonly default: boolean
  readonly commit: Commit
}

export interface Tag {
  readonly name: string
  readonly message: string | null
  readonly commit: Commit
}

export interface Pipeline {
  readonly id: number
  readonly iid: number
  readonly sha: string
  readonly ref: string
  readonly status: string
  readonly source: string
  readonly name: string | null
  readonly created_at: string
}

export interface WholePipeline extends Pipeline {
  readonly user: Person | null
  /** In seconds. */
  readonly duration: number | null
  readonly coverage: string | null
  readonly yaml_errors: string | null
}

export interface Job {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly allow_failure: boolean
  /** In seconds. */
  readonly duration: number | null
  readonly failure_reason?: string
  readonly pipeline: { readonly id: number }
  readonly artifacts_file?: { readonly filename: string; readonly size: number }
  readonly user: Person | null
}

export interface Label {
  readonly name: string
  readonly color: string
  readonly text_color: string
}

/** What issues and merge requests have. */
export interface Noteable {
  readonly iid: number
  readonly title: string
  readonly state: 'opened' | 'closed' | 'merged' | 'locked'
  readonly created_at: string
  readonly author: Person | null
  readonly assignees: readonly Person[]
  readonly milestone: { readonly title: string } | null
  readonly user_notes_count: number
  readonly references: { readonly short: string }
}

export interface Issue extends Noteable {
  readonly confidential: boolean
  readonly due_date: string | null
}

export interface MergeRequest extends Noteable {
  readonly source_branch: string
  readonly target_branch: string
  readonly source_project_id: number
  readonly target_project_id: number
  readonly draft: boolean
  readonly sha: string
  readonly reviewers: readonly Person[]
  readonly detailed_merge_status: string
  readonly merge_when_pipeline_succeeds: boolean
  readonly merge_user: Person | null
  readonly merged_at: string | null
  readonly merge_error: string | null
  readonly changes_count: string | null
  readonly head_pipeline: Pick<Pipeline, 'id' | 'status'> | null
  /** Of whoever is signed in. */
  readonly user: { readonly can_merge: boolean }
}

export interface Approvals {
  readonly approvals_left: number
  readonly approved_by: readonly { readonly user: Person }[]
  readonly user_has_approved: boolean
  readonly user_can_approve: boolean
}

export interface Release {
  readonly name: string
  readonly tag_name: string
  readonly description_html: string
  readonly upcoming_release: boolean
  readonly released_at: string
  readonly author: Person | null
  readonly assets: {
    readonly links: readonly { readonly name: string; readonly direct_asset_url: string }[]
    /** Only for those who read the code. */
    readonly sources?: readonly { readonly format: string; readonly url: string }[]
  }
}

export interface Environment {
  readonly name: string
  readonly tier: string
  readonly state: string
  readonly external_url: string | null
  readonly description: string | null
}
