import type {
  DiscussionRecord,
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  NoteRecord,
  ProjectRecord,
  ProtectedBranchRecord,
} from './format.ts'

/** A record of an archive breaks a rule; the others are taken. */
export class RecordFault extends Error {}

type Raw = Readonly<Record<string, unknown>>

const longestTitle = 255
const longestText = 1024 * 1024
const largestInt = 2_147_483_647

function objectOf(value: unknown): Raw {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RecordFault('is no object')
  return value as Raw
}

function listOf<T>(value: unknown, name: string, check: (entry: unknown) => T, most = 10_000): T[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > most) throw new RecordFault(`${name} is no list`)
  return value.map(check)
}

function text(raw: Raw, name: string, longest: number): string {
  const value = raw[name]
  if (typeof value !== 'string' || value.trim() === '' || value.length > longest || value.includes('\0')) {
    throw new RecordFault(`${name} is no fit text`)
  }
  return value
}

function textOrNull(raw: Raw, name: string, longest = longestText): string | null {
  return raw[name] === undefined || raw[name] === null || raw[name] === '' ? null : text(raw, name, longest)
}

function oneOf<const T extends string>(raw: Raw, name: string, values: readonly T[]): T {
  const value = raw[name]
  if (!values.includes(value as T)) throw new RecordFault(`${name} is none of ${values.join(', ')}`)
  return value as T
}

function whole(raw: Raw, name: string, least: number): number {
  const value = raw[name]
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > largestInt) {
    throw new RecordFault(`${name} is no fit number`)
  }
  return value
}

function wholeOrNull(raw: Raw, name: string, least: number): number | null {
  return raw[name] === undefined || raw[name] === null ? null : whole(raw, name, least)
}

/** Before this year, and after that one, there are no projects. */
const years = [1970, 9999] as const

function time(raw: Raw, name: string): string {
  const value = raw[name]
  const date = typeof value === 'string' ? new Date(value) : undefined
  if (date === undefined || Number.isNaN(date.getTime())) throw new RecordFault(`${name} is no time`)
  if (date.getUTCFullYear() < years[0] || date.getUTCFullYear() > years[1]) {
    throw new RecordFault(`${name} is no time`)
  }
  return date.toISOString()
}

function day(raw: Raw, name: string): string | null {
  return raw[name] === undefined || raw[name] === null ? null : time(raw, name).slice(0, 10)
}

/** What the records of other archives are read with. */
export const reader = { objectOf, listOf, text, textOrNull, oneOf, whole, wholeOrNull, time, day } as const

export function checkProject(value: unknown): ProjectRecord {
  const raw = objectOf(value)
  return {
    name: text(raw, 'name', longestTitle),
    description: textOrNull(raw, 'description', 2000),
    visibility: [0, 10, 20].includes(raw['visibility'] as number) ? (raw['visibility'] as number) : 0,
    default_branch: textOrNull(raw, 'default_branch', longestTitle),
    topics: listOf(raw['topics'], 'topics', (topic) => text({ topic }, 'topic', longestTitle), 20),
  }
}

export function checkLabel(value: unknown): LabelRecord {
  const raw = objectOf(value)
  const color = text(raw, 'color', 7)
  if (!/^#[0-9a-fA-F]{6}$/.test(color)) throw new RecordFault('color is none')
  const title = text(raw, 'title', longestTitle)
  if (title.includes(',')) throw new RecordFault('title has a comma')
  const description = textOrNull(raw, 'description')
  return { title, description, color, priority: wholeOrNull(raw, 'priority', 0) }
}

export function checkMilestone(value: unknown): MilestoneRecord {
  const raw = objectOf(value)
  return {
    iid: whole(raw, 'iid', 1),
    title: text(raw, 'title', longestTitle),
    description: textOrNull(raw, 'description'),
    state: oneOf(raw, 'state', ['active', 'closed']),
    start_date: day(raw, 'start_date'),
    due_date: day(raw, 'due_date'),
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
  }
}

function checkNote(value: unknown): NoteRecord {
  const raw = objectOf(value)
  const system = raw['system'] === true
  return {
    author: textOrNull(raw, 'author', longestTitle),
    body: text(raw, 'body', longestText),
    system,
    action: system ? text(raw, 'action', 50) : null,
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
  }
}

function checkDiscussion(value: unknown): DiscussionRecord {
  const raw = objectOf(value)
  const notes = listOf(raw['notes'], 'notes', checkNote)
  if (notes.length === 0) throw new RecordFault('a discussion has no notes')
  const individual = raw['individual'] === true && notes.length === 1
  return { individual, internal: raw['internal'] === true, notes }
}

export function checkIssue(value: unknown): IssueRecord {
  const raw = objectOf(value)
  const state = oneOf(raw, 'state', ['opened', 'closed'])
  const name = (entry: unknown) => text({ entry }, 'entry', longestTitle)
  return {
    iid: whole(raw, 'iid', 1),
    title: text(raw, 'title', longestTitle),
    description: textOrNull(raw, 'description'),
    state,
    issue_type: oneOf(raw, 'issue_type', ['issue', 'incident', 'test_case', 'task']),
    confidential: raw['confidential'] === true,
    due_date: day(raw, 'due_date'),
    weight: wholeOrNull(raw, 'weight', 0),
    time_estimate: wholeOrNull(raw, 'time_estimate', 0) ?? 0,
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
    closed_at: state === 'closed' && raw['closed_at'] !== null ? time(raw, 'closed_at') : null,
    author: textOrNull(raw, 'author', longestTitle),
    milestone: wholeOrNull(raw, 'milestone', 1),
    labels: listOf(raw['labels'], 'labels', name),
    assignees: listOf(raw['assignees'], 'assignees', name),
    discussions: listOf(raw['discussions'], 'discussions', checkDiscussion),
  }
}

export function checkProtectedBranch(value: unknown): ProtectedBranchRecord {
  const raw = objectOf(value)
  return {
    name: text(raw, 'name', longestTitle),
    allow_force_push: raw['allow_force_push'] === true,
    code_owner_approval_required: raw['code_owner_approval_required'] === true,
    levels: listOf(
      raw['levels'],
      'levels',
      (entry) => {
        const level = objectOf(entry)
        const access_level = whole(level, 'access_level', 0)
        if (![0, 30, 40, 60].includes(access_level)) throw new RecordFault('access_level is none')
        return { action: oneOf(level, 'action', ['push', 'merge', 'unprotect']), access_level }
      },
      50,
    ),
  }
}
