import { RecordFault, recordReader } from '../../project-archives/index.ts'
import type { Account } from '../people.ts'
import type { HostRequest, Side } from '../requests.ts'
import { longestName, longestText, prose, type Raw } from '../shapes.ts'
import { titleOf } from '../texts.ts'

const { objectOf, listOf, text, whole, time } = recordReader

/** People are known by the names that they have chosen; teams and those who have gone have none. */
export function accountOf(value: unknown): Account | null {
  if (value === null || value === undefined) return null
  const raw = objectOf(value)
  const { nickname, display_name: shown } = raw
  const given = [nickname, shown].filter(
    (one): one is string => typeof one === 'string' && one.trim() !== '' && !one.includes('\0'),
  )
  const [login] = given
  if (login === undefined) return null
  return { login: login.slice(0, longestName), name: login.slice(0, longestName) }
}

/** The source of a text that the host also renders. */
function rawText(value: unknown): string | null {
  return value === null || value === undefined ? null : prose(objectOf(value), 'raw')
}

export interface CloudIssue {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly open: boolean
  readonly author: Account | null
  readonly assignee: Account | null
  /** A label here. */
  readonly kind: string | null
  /** Of the milestone there. */
  readonly milestone: string | null
  readonly createdAt: string
  readonly updatedAt: string
}

const kinds = ['bug', 'enhancement', 'proposal', 'task']
export const kindLabels = kinds.map((title) => ({
  title,
  description: null,
  color: '#7F8C8D',
  priority: null,
}))

const closed = ['resolved', 'invalid', 'duplicate', 'wontfix', 'closed']

function updatedOf(raw: Raw, createdAt: string): string {
  return typeof raw['updated_on'] === 'string' ? time(raw, 'updated_on') : createdAt
}

export function issueOf(value: unknown): CloudIssue {
  const raw = objectOf(value)
  const createdAt = time(raw, 'created_on')
  const { milestone, kind, state } = raw
  return {
    number: whole(raw, 'id', 1),
    title: titleOf(text(raw, 'title', longestText)),
    body: rawText(raw['content']),
    open: !closed.includes(String(state)),
    author: accountOf(raw['reporter']),
    assignee: accountOf(raw['assignee']),
    kind: kinds.includes(String(kind)) ? String(kind) : null,
    milestone:
      milestone === null || milestone === undefined
        ? null
        : titleOf(text(objectOf(milestone), 'name', longestName)),
    createdAt,
    updatedAt: updatedOf(raw, createdAt),
  }
}

/** What milestones are called: there is no more to them. */
export function milestoneOf(value: unknown): string {
  return titleOf(text(objectOf(value), 'name', longestName))
}

export interface CloudComment {
  readonly id: string
  readonly author: Account | null
  readonly body: string
  readonly createdAt: string
  readonly replyTo: string | null
  readonly path: string | undefined
  readonly place: { readonly path: string; readonly side: 'old' | 'new'; readonly line: number } | undefined
}

/** Undefined of one that was deleted, or says nothing. */
export function commentOf(value: unknown): CloudComment | undefined {
  const raw = objectOf(value)
  const body = rawText(raw['content'])
  if (raw['deleted'] === true || body === null) return undefined
  const { parent, inline } = raw
  const where = inline === null || inline === undefined ? undefined : objectOf(inline)
  const path = where === undefined ? undefined : text(where, 'path', 4096)
  return {
    id: idOf(raw),
    author: accountOf(raw['user']),
    body,
    createdAt: time(raw, 'created_on'),
    replyTo: parent === null || parent === undefined ? null : idOf(objectOf(parent)),
    path,
    place: path === undefined ? undefined : placeIn(where!, path),
  }
}

function placeIn(raw: Raw, path: string): CloudComment['place'] {
  const line = (name: string) =>
    Number.isInteger(raw[name]) && Number(raw[name]) > 0 ? Number(raw[name]) : undefined
  const [old, now] = [line('from'), line('to')]
  if (now !== undefined) return { path, side: 'new', line: now }
  return old === undefined ? undefined : { path, side: 'old', line: old }
}

function idOf(raw: Raw): string {
  const { id } = raw
  if (!Number.isSafeInteger(id) || Number(id) < 1) throw new RecordFault('id is none')
  return String(id)
}

function sideOf(value: unknown): Side {
  const raw = objectOf(value)
  const { commit, repository } = raw
  const sha = commit === null || commit === undefined ? '' : String(objectOf(commit)['hash'])
  return {
    sha: /^[0-9a-f]{7,40}$/.test(sha) ? sha : '',
    branch: text(objectOf(raw['branch']), 'name', longestName),
    repository:
      repository === null || repository === undefined ? null : text(objectOf(repository), 'full_name', 201),
  }
}

const states: Readonly<Record<string, HostRequest['state']>> = {
  OPEN: 'opened',
  MERGED: 'merged',
  DECLINED: 'closed',
  SUPERSEDED: 'closed',
}

export function requestOf(value: unknown): HostRequest {
  const raw = objectOf(value)
  const state = states[String(raw['state'])]
  if (state === undefined) throw new RecordFault('state is none')
  const createdAt = time(raw, 'created_on')
  const updatedAt = updatedOf(raw, createdAt)
  const merge = raw['merge_commit']
  const commit = merge === null || merge === undefined ? '' : String(objectOf(merge)['hash'])
  const author = accountOf(raw['author'])
  return {
    number: whole(raw, 'id', 1),
    title: titleOf(text(raw, 'title', longestText)),
    body: rawText(raw['summary']) ?? prose(raw, 'description'),
    state,
    draft: raw['draft'] === true,
    author,
    assignees: author === null ? [] : [author],
    reviewers: listOf(raw['reviewers'], 'reviewers', (entry) => accountOf(entry) ?? [], 1000).flat(),
    labels: [],
    milestone: null,
    locked: false,
    createdAt,
    updatedAt,
    mergedAt: state === 'merged' ? updatedAt : null,
    closedAt: state === 'closed' ? updatedAt : null,
    merger: state === 'merged' ? accountOf(raw['closed_by']) : null,
    mergeCommit: /^[0-9a-f]{7,40}$/.test(commit) ? commit : null,
    head: sideOf(raw['source']),
    base: sideOf(raw['destination']),
  }
}
