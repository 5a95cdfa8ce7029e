import type {
  IssueRecord,
  LabelRecord,
  MilestoneRecord,
  ProjectRecord,
  ProtectedBranchRecord,
} from './format.ts'
import { checkDiscussion } from './check-discussions.ts'
import { checkHistory } from './check-history.ts'
import { longestTitle, reader, RecordFault } from './record-reader.ts'

const { objectOf, listOf, text, textOrNull, oneOf, whole, wholeOrNull, time, day } = reader

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
    history: checkHistory(raw['history']),
    discussions: listOf(raw['discussions'], 'discussions', (entry) => checkDiscussion(entry, undefined)),
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
