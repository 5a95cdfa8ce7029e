import { sql } from 'kysely'
import type { Tx } from '../../kernel/db/index.ts'
import { writeDuration } from '../noteables/index.ts'
import { addSystemNotes, type SystemAction } from '../notes/index.ts'
import type { IssueColumns, StoredIssue } from './store.ts'

/** What the service writes down on an issue; of labels, states and milestones there are records of another kind. */
export interface Told {
  readonly action: SystemAction
  readonly body: string
  /** Another issue that is named: who may not see it does not see the note. */
  readonly of?: { readonly id: number; readonly projectId: number }
}

export async function tell(
  tx: Tx,
  { id, projectId }: { readonly id: number; readonly projectId: number },
  authorId: number,
  told: readonly Told[],
): Promise<void> {
  await addSystemNotes(
    tx,
    told.map(({ action, body, of }) => ({
      on: { kind: 'Issue', id, projectId, namespaceId: null },
      action,
      body,
      authorId,
      ...(of !== undefined && {
        reference: { kind: 'Issue', id: of.id, projectId: of.projectId, namespaceId: null },
      }),
    })),
  )
}

/** `June 1, 2025` */
function writeDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' })
}

/** What a change of columns tells. */
export function toldOfChange(before: StoredIssue, now: IssueColumns): Told[] {
  const told: Told[] = []
  if (now.title !== undefined) {
    told.push({ action: 'title', body: `changed title from **{-${before.title}-}** to **{+${now.title}+}**` })
  }
  if (now.description !== undefined) told.push({ action: 'description', body: 'changed the description' })
  if (now.due_date !== undefined) {
    const body =
      now.due_date === null
        ? `removed due date ${writeDay(before.due_date!)}`
        : `changed due date to ${writeDay(now.due_date)}`
    told.push({ action: 'start_date_or_due_date', body })
  }
  if (now.confidential !== undefined) {
    told.push(
      now.confidential
        ? { action: 'confidential', body: 'made the issue confidential' }
        : { action: 'visible', body: 'made the issue visible to everyone' },
    )
  }
  if (
    now.discussion_locked !== undefined &&
    (now.discussion_locked ?? false) !== (before.discussion_locked ?? false)
  ) {
    told.push(
      now.discussion_locked === true
        ? { action: 'locked', body: 'locked the discussion in this issue' }
        : { action: 'unlocked', body: 'unlocked the discussion in this issue' },
    )
  }
  if (now.weight !== undefined) {
    const body = now.weight === null ? 'removed the weight' : `set weight to **${now.weight}**`
    told.push({ action: 'weight', body })
  }
  if (now.health_status !== undefined) {
    const body =
      now.health_status === null
        ? 'removed the health status'
        : `changed health status to **${now.health_status.replaceAll('_', ' ')}**`
    told.push({ action: 'health_status', body })
  }
  if (now.issue_type !== undefined) {
    const body = `changed type from ${before.issue_type.replaceAll('_', ' ')} to ${now.issue_type.replaceAll('_', ' ')}`
    told.push({ action: 'issue_type', body })
  }
  return told
}

/** `assigned to @ida and unassigned @otto` */
export async function toldOfAssignees(
  tx: Tx,
  was: readonly number[],
  now: readonly number[],
): Promise<Told[]> {
  const changed = [...now.filter((id) => !was.includes(id)), ...was.filter((id) => !now.includes(id))]
  if (changed.length === 0) return []
  const { rows } = await sql<{ id: number; username: string }>`
    select u.id, u.username from users u where u.id = any (${changed}::bigint[]) order by u.id`.execute(tx)
  const names = (ids: readonly number[]): string => {
    const listed = rows.filter(({ id }) => ids.includes(id)).map(({ username }) => `@${username}`)
    const last = listed.pop()
    return last === undefined ? '' : listed.length === 0 ? last : `${listed.join(', ')} and ${last}`
  }
  const come = names(now.filter((id) => !was.includes(id)))
  const gone = names(was.filter((id) => !now.includes(id)))
  const pieces = [come && `assigned to ${come}`, gone && `unassigned ${gone}`].filter((piece) => piece !== '')
  return [{ action: 'assignee', body: pieces.join(' and ') }]
}

export function toldOfEstimate(seconds: number): Told {
  const text = writeDuration(seconds)
  return {
    action: 'time_tracking',
    body: text === null ? 'removed time estimate' : `changed time estimate to ${text}`,
  }
}

/** Null: all of it was removed. */
export function toldOfSpent(seconds: number | null, day: string): Told {
  const body =
    seconds === null
      ? 'removed time spent'
      : `${seconds < 0 ? 'subtracted' : 'added'} ${writeDuration(Math.abs(seconds))} of time spent at ${day}`
  return { action: 'time_tracking', body }
}
