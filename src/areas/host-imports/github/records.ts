import {
  checkLabel,
  checkMilestone,
  RecordFault,
  recordReader,
  type LabelRecord,
  type MilestoneRecord,
} from '../../project-archives/index.ts'
import type { Account } from '../people.ts'
import { longestName, longestText, prose, shaOf, timeOrNull, type Raw } from '../shapes.ts'
import type { Side } from '../requests.ts'
import { labelTitle, titleOf } from '../texts.ts'

const { objectOf, listOf, text, whole, time } = recordReader

export function accountOf(value: unknown): Account | null {
  if (value === null || value === undefined) return null
  const login = text(objectOf(value), 'login', longestName)
  return { login, name: login }
}

const accountsOf = (value: unknown): Account[] =>
  listOf(value, 'accounts', (entry) => accountOf(entry) ?? [], 100).flat()

const labelsOf = (raw: Raw): string[] =>
  listOf(raw['labels'], 'labels', (label) => labelTitle(text(objectOf(label), 'name', longestName)), 100)

const numberOf = (value: unknown): number | null =>
  value === null || value === undefined ? null : whole(objectOf(value), 'number', 1)

export function labelOf(value: unknown): LabelRecord {
  const raw = objectOf(value)
  return checkLabel({
    title: labelTitle(text(raw, 'name', longestName)),
    description: prose(raw, 'description'),
    color: `#${text(raw, 'color', 6)}`,
    priority: null,
  })
}

export function milestoneOf(value: unknown): MilestoneRecord {
  const raw = objectOf(value)
  return checkMilestone({
    iid: raw['number'],
    title: titleOf(text(raw, 'title', longestText)),
    description: prose(raw, 'description'),
    state: raw['state'] === 'open' ? 'active' : 'closed',
    start_date: null,
    due_date: raw['due_on'],
    created_at: raw['created_at'],
    updated_at: raw['updated_at'],
  })
}

export interface Issue {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly open: boolean
  readonly author: Account | null
  readonly assignees: readonly Account[]
  readonly labels: readonly string[]
  readonly milestone: number | null
  readonly locked: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt: string | null
}

function plannedOf(raw: Raw): Issue {
  return {
    number: whole(raw, 'number', 1),
    title: titleOf(text(raw, 'title', longestText)),
    body: prose(raw, 'body'),
    open: raw['state'] === 'open',
    author: accountOf(raw['user']),
    assignees: accountsOf(raw['assignees']),
    labels: labelsOf(raw),
    milestone: numberOf(raw['milestone']),
    locked: raw['locked'] === true,
    createdAt: time(raw, 'created_at'),
    updatedAt: time(raw, 'updated_at'),
    closedAt: timeOrNull(raw, 'closed_at'),
  }
}

/** Undefined of a pull request: the list of issues has these, too. */
export function issueOf(value: unknown): Issue | undefined {
  const raw = objectOf(value)
  return raw['pull_request'] === undefined || raw['pull_request'] === null ? plannedOf(raw) : undefined
}

export interface PullRequest extends Issue {
  readonly mergedAt: string | null
  readonly mergeCommit: string | null
  readonly reviewers: readonly Account[]
  readonly draft: boolean
  readonly head: Side
  readonly base: Side
}

function sideOf(value: unknown): Side {
  const raw = objectOf(value)
  const sha = shaOf(raw['sha'])
  if (sha === null) throw new RecordFault('sha is none')
  const repository = raw['repo']
  return {
    sha,
    branch: text(raw, 'ref', longestName),
    repository:
      repository === null || repository === undefined ? null : text(objectOf(repository), 'full_name', 201),
  }
}

export function pullRequestOf(value: unknown): PullRequest {
  const raw = objectOf(value)
  const planned = plannedOf(raw)
  return {
    ...planned,
    mergedAt: timeOrNull(raw, 'merged_at'),
    mergeCommit: shaOf(raw['merge_commit_sha']),
    reviewers: accountsOf(raw['requested_reviewers']),
    draft: raw['draft'] === true,
    head: sideOf(raw['head']),
    base: sideOf(raw['base']),
  }
}

export interface Comment {
  readonly id: string
  /** Of the issue or pull request. */
  readonly number: number
  readonly author: Account | null
  readonly body: string
  readonly createdAt: string
}

/** The number at the end of an address of the API, such as `.../issues/12`. */
function numberIn(raw: Raw, name: string): number {
  const found = /\/(\d{1,9})$/.exec(text(raw, name, 2000))
  if (found === null) throw new RecordFault(`${name} names nothing`)
  return Number(found[1])
}

/** Undefined of one in which nothing is written. */
export function commentOf(value: unknown): Comment | undefined {
  const raw = objectOf(value)
  const body = prose(raw, 'body')
  if (body === null) return undefined
  return {
    id: idOf(raw, 'id'),
    number: numberIn(raw, 'issue_url'),
    author: accountOf(raw['user']),
    body,
    createdAt: time(raw, 'created_at'),
  }
}

export interface ReviewComment extends Comment {
  readonly path: string
  readonly side: 'old' | 'new'
  /** Null: of a version that is no longer shown. */
  readonly line: number | null
  readonly hunk: string
  readonly replyTo: string | null
}

export function reviewCommentOf(value: unknown): ReviewComment | undefined {
  const raw = objectOf(value)
  const body = prose(raw, 'body')
  if (body === null) return undefined
  const line = raw['line'] ?? null
  return {
    id: idOf(raw, 'id'),
    number: numberIn(raw, 'pull_request_url'),
    author: accountOf(raw['user']),
    body,
    createdAt: time(raw, 'created_at'),
    path: text(raw, 'path', 4096),
    side: raw['side'] === 'LEFT' ? 'old' : 'new',
    line: line === null ? null : whole(raw, 'line', 1),
    hunk: prose(raw, 'diff_hunk') ?? '',
    replyTo:
      raw['in_reply_to_id'] === undefined || raw['in_reply_to_id'] === null
        ? null
        : idOf(raw, 'in_reply_to_id'),
  }
}

export interface Review {
  readonly id: string
  readonly author: Account | null
  readonly body: string | null
  readonly state: string
  readonly submittedAt: string | null
}

export function reviewOf(value: unknown): Review {
  const raw = objectOf(value)
  return {
    id: idOf(raw, 'id'),
    author: accountOf(raw['user']),
    body: prose(raw, 'body'),
    state: text(raw, 'state', 50),
    submittedAt: timeOrNull(raw, 'submitted_at'),
  }
}

/** Numbers of the host are larger than ours. */
function idOf(raw: Raw, name: string): string {
  const value = raw[name]
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw new RecordFault(`${name} is none`)
  return String(value)
}

export interface Release {
  readonly id: string
  readonly tag: string
  readonly name: string
  readonly body: string | null
  readonly author: Account | null
  readonly createdAt: string
  readonly publishedAt: string
}

/** Undefined of a draft, which has no tag yet. */
export function releaseOf(value: unknown): Release | undefined {
  const raw = objectOf(value)
  if (raw['draft'] === true) return undefined
  const tag = text(raw, 'tag_name', longestName)
  const createdAt = time(raw, 'created_at')
  return {
    id: idOf(raw, 'id'),
    tag,
    name: titleOf(prose(raw, 'name') ?? tag),
    body: prose(raw, 'body'),
    author: accountOf(raw['author']),
    createdAt,
    publishedAt: timeOrNull(raw, 'published_at') ?? createdAt,
  }
}
