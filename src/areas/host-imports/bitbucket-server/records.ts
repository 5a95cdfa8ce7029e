import { RecordFault, recordReader } from '../../project-archives/index.ts'
import type { Account } from '../people.ts'
import type { HostRequest, Side } from '../requests.ts'
import { longestName, longestText, prose, shaOf, type Raw } from '../shapes.ts'
import { titleOf } from '../texts.ts'
import { fullNameOf } from './host.ts'

const { objectOf, listOf, text, whole } = recordReader

export function accountOf(value: unknown): Account | null {
  if (value === null || value === undefined) return null
  const raw = objectOf(value)
  const login = text(raw, 'name', longestName)
  const { displayName, emailAddress } = raw
  const given = (one: unknown) => (typeof one === 'string' && one !== '' && !one.includes('\0') ? one : null)
  return {
    login,
    name: given(displayName)?.slice(0, longestName) ?? login,
    email: given(emailAddress)?.slice(0, 320) ?? null,
  }
}

const userOf = (value: unknown): Account | null => accountOf(objectOf(value)['user'])

/** Milliseconds since 1970. */
function momentOf(raw: Raw, name: string): string {
  const value = raw[name]
  const date = new Date(typeof value === 'number' ? value : Number.NaN)
  if (Number.isNaN(date.getTime()) || date.getTime() < 0 || date.getUTCFullYear() > 9999) {
    throw new RecordFault(`${name} is no time`)
  }
  return date.toISOString()
}

function sideOf(value: unknown): Side {
  const raw = objectOf(value)
  const repository = raw['repository']
  return {
    sha: shaOf(raw['latestCommit']) ?? '',
    branch: text(raw, 'displayId', longestName),
    repository: repository === null || repository === undefined ? null : fullNameOf(objectOf(repository)),
  }
}

const states: Readonly<Record<string, HostRequest['state']>> = {
  OPEN: 'opened',
  MERGED: 'merged',
  DECLINED: 'closed',
}

export function requestOf(value: unknown): HostRequest {
  const raw = objectOf(value)
  const state = states[String(raw['state'])]
  if (state === undefined) throw new RecordFault('state is none')
  const updatedAt = momentOf(raw, 'updatedDate')
  const closedAt = typeof raw['closedDate'] === 'number' ? momentOf(raw, 'closedDate') : updatedAt
  const properties = raw['properties'] === undefined ? {} : objectOf(raw['properties'])
  const commit = properties['mergeCommit']
  return {
    number: whole(raw, 'id', 1),
    title: titleOf(text(raw, 'title', longestText)),
    body: prose(raw, 'description'),
    state,
    draft: raw['draft'] === true,
    author: raw['author'] === undefined ? null : userOf(raw['author']),
    assignees: [],
    reviewers: listOf(raw['reviewers'], 'reviewers', userOf, 1000).flatMap((account) => account ?? []),
    labels: [],
    milestone: null,
    locked: false,
    createdAt: momentOf(raw, 'createdDate'),
    updatedAt,
    mergedAt: state === 'merged' ? closedAt : null,
    closedAt: state === 'closed' ? closedAt : null,
    merger: null,
    mergeCommit: commit === undefined || commit === null ? null : shaOf(objectOf(commit)['id']),
    head: sideOf(raw['fromRef']),
    base: sideOf(raw['toRef']),
  }
}

export interface Comment {
  readonly id: string
  readonly author: Account | null
  readonly body: string
  readonly createdAt: string
  /** The first of the thread; left out of that itself. */
  readonly replyTo?: string
  readonly place?: { readonly path: string; readonly side: 'old' | 'new'; readonly line: number } | undefined
  /** Of a file that it is about, whether its place is right or not. */
  readonly path?: string | undefined
}

export interface Activity {
  readonly comments: readonly Comment[]
  readonly merged?: { readonly by: Account | null; readonly at: string; readonly commit: string | null }
}

/** How deep threads are looked into. */
const deepest = 50

export function activityOf(value: unknown): Activity {
  const raw = objectOf(value)
  if (raw['action'] === 'MERGED') {
    const commit = raw['commit'] === undefined || raw['commit'] === null ? {} : objectOf(raw['commit'])
    const at = momentOf(raw, 'createdDate')
    return { comments: [], merged: { by: accountOf(raw['user']), at, commit: shaOf(commit['id']) } }
  }
  if (raw['action'] !== 'COMMENTED' || (raw['commentAction'] ?? 'ADDED') !== 'ADDED') return { comments: [] }
  const { path, place } = raw['commentAnchor'] === undefined ? {} : placeOf(objectOf(raw['commentAnchor']))
  const [first, ...replies] = commentsIn(raw['comment'], 0)
  if (first === undefined) return { comments: [] }
  return {
    comments: [{ ...first, place, path }, ...replies.map((reply) => ({ ...reply, replyTo: first.id }))],
  }
}

/** A comment and its answers, those of answers among them: threads here have one level. */
function commentsIn(value: unknown, depth: number): Comment[] {
  if (depth > deepest) return []
  const raw = objectOf(value)
  const body = prose(raw, 'text')
  const further = listOf(raw['comments'], 'comments', (entry) => commentsIn(entry, depth + 1), 1000).flat()
  if (body === null) return further
  const id = String(whole(raw, 'id', 1))
  return [{ id, author: accountOf(raw['author']), body, createdAt: momentOf(raw, 'createdDate') }, ...further]
}

function placeOf(raw: Raw): Pick<Comment, 'path' | 'place'> {
  const path = text(raw, 'path', 4096)
  if (!Number.isInteger(raw['line']) || raw['orphaned'] === true) return { path }
  const side = raw['fileType'] === 'FROM' || raw['lineType'] === 'REMOVED' ? 'old' : 'new'
  return { path, place: { path, side, line: whole(raw, 'line', 1) } }
}
