import { branchRef } from '../../git/index.ts'
import { checkDiscussion, type KnownCommit } from './check-discussions.ts'
import { checkHistory } from './check-history.ts'
import type { DiscussionRecord, MergeRequestRecord } from './format.ts'
import { longestTitle, reader, RecordFault } from './record-reader.ts'

const {
  objectOf,
  listOf,
  text,
  textOrNull,
  oneOf,
  whole,
  wholeOrNull,
  time,
  timeOrNull,
  flagOrNull,
  oid,
  oidOrNull,
} = reader

const reviewStates = [
  'unreviewed',
  'reviewed',
  'requested_changes',
  'approved',
  'unapproved',
  'review_started',
] as const

/** What is looked at first; where its threads stand can be looked at only when its commits are known. */
export interface CheckedRequest extends Omit<MergeRequestRecord, 'discussions'> {
  readonly said: unknown
}

export function checkMergeRequest(value: unknown): CheckedRequest {
  const raw = objectOf(value)
  const state = oneOf(raw, 'state', ['opened', 'closed', 'merged'])
  const name = (entry: unknown) => text({ entry }, 'entry', longestTitle)
  const branch = (field: string): string => {
    const found = text(raw, field, longestTitle)
    if (branchRef(found) === undefined) throw new RecordFault(`${field} is no branch`)
    return found
  }
  return {
    iid: whole(raw, 'iid', 1),
    title: text(raw, 'title', longestTitle),
    description: textOrNull(raw, 'description'),
    state,
    source_branch: branch('source_branch'),
    target_branch: branch('target_branch'),
    own_source: raw['own_source'] === true,
    squash: raw['squash'] === true,
    remove_source_branch: flagOrNull(raw, 'remove_source_branch'),
    allow_collaboration: raw['allow_collaboration'] === true,
    discussion_locked: flagOrNull(raw, 'discussion_locked'),
    merge_commit_sha: oidOrNull(raw, 'merge_commit_sha'),
    squash_commit_sha: oidOrNull(raw, 'squash_commit_sha'),
    merged_sha: oidOrNull(raw, 'merged_sha'),
    time_estimate: wholeOrNull(raw, 'time_estimate', 0) ?? 0,
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
    merged_at: state === 'merged' ? timeOrNull(raw, 'merged_at') : null,
    closed_at: state === 'closed' ? timeOrNull(raw, 'closed_at') : null,
    author: textOrNull(raw, 'author', longestTitle),
    merged_by: state === 'merged' ? textOrNull(raw, 'merged_by', longestTitle) : null,
    closed_by: state === 'closed' ? textOrNull(raw, 'closed_by', longestTitle) : null,
    milestone: wholeOrNull(raw, 'milestone', 1),
    labels: listOf(raw['labels'], 'labels', name),
    assignees: listOf(raw['assignees'], 'assignees', name),
    reviewers: listOf(raw['reviewers'], 'reviewers', (entry) => {
      const reviewer = objectOf(entry)
      return {
        username: text(reviewer, 'username', longestTitle),
        state: oneOf(reviewer, 'state', reviewStates),
      }
    }),
    approvals: listOf(raw['approvals'], 'approvals', (entry) => {
      const approval = objectOf(entry)
      return {
        username: text(approval, 'username', longestTitle),
        sha: oid(approval, 'sha'),
        created_at: time(approval, 'created_at'),
      }
    }),
    versions: listOf(raw['versions'], 'versions', (entry) => {
      const version = objectOf(entry)
      return {
        head: oid(version, 'head'),
        start: oid(version, 'start'),
        created_at: time(version, 'created_at'),
      }
    }),
    history: checkHistory(raw['history']),
    said: raw['discussions'],
  }
}

export function checkSaid({ said }: CheckedRequest, known: KnownCommit): DiscussionRecord[] {
  return listOf(said, 'discussions', (entry) => checkDiscussion(entry, known))
}
