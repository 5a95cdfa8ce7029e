import { checkLabel, checkMilestone, RecordFault, recordReader } from '../project-archives/index.ts'
import type { EpicRecord, GroupRecord, Records } from './format.ts'

const { objectOf, listOf, text, textOrNull, oneOf, whole, wholeOrNull, time, day } = recordReader

const longestTitle = 255
const longestPath = 2000

/** A path below the group itself, which has none. */
function groupOf(value: unknown): string {
  const raw = objectOf(value)
  const path = textOrNull(raw, 'group', longestPath) ?? ''
  if (path !== '' && !isPath(path)) throw new RecordFault('group is no path')
  return path
}

function isPath(text: string): boolean {
  return text.split('/').every((part) => /^[a-zA-Z0-9_][\w.-]*$/.test(part))
}

export function checkGroup(value: unknown): GroupRecord {
  const raw = objectOf(value)
  const path = textOrNull(raw, 'path', longestPath) ?? ''
  if (path !== '' && !isPath(path)) throw new RecordFault('path is none')
  return {
    path,
    name: text(raw, 'name', longestTitle),
    description: textOrNull(raw, 'description', 500) ?? '',
    visibility: [0, 10, 20].includes(raw['visibility'] as number) ? (raw['visibility'] as number) : 0,
  }
}

export const checkGroupLabel = (value: unknown): Records['labels'] => ({
  ...checkLabel(value),
  group: groupOf(value),
})

export const checkGroupMilestone = (value: unknown): Records['milestones'] => ({
  ...checkMilestone(value),
  group: groupOf(value),
})

export function checkEpic(value: unknown): EpicRecord {
  const raw = objectOf(value)
  const state = oneOf(raw, 'state', ['opened', 'closed'])
  const color = text(raw, 'color', 7)
  if (!/^#[0-9a-fA-F]{6}$/.test(color)) throw new RecordFault('color is none')
  return {
    group: groupOf(value),
    iid: whole(raw, 'iid', 1),
    title: text(raw, 'title', longestTitle),
    description: textOrNull(raw, 'description'),
    state,
    confidential: raw['confidential'] === true,
    color,
    start_date: day(raw, 'start_date'),
    due_date: day(raw, 'due_date'),
    created_at: time(raw, 'created_at'),
    updated_at: time(raw, 'updated_at'),
    closed_at: state === 'closed' && raw['closed_at'] != null ? time(raw, 'closed_at') : null,
    author: textOrNull(raw, 'author', longestTitle),
    parent: wholeOrNull(raw, 'parent', 1),
    labels: listOf(raw['labels'], 'labels', (entry) => text({ entry }, 'entry', longestTitle)),
  }
}
