import { sql, type Tx } from '../../kernel/db/index.ts'
import { changedTasks, writeDuration } from '../noteables/index.ts'
import { addSystemNotes, type SystemAction, type SystemNote } from '../notes/index.ts'
import type { IssueColumns, StoredIssue } from './store.ts'

export type Target = SystemNote['on']

/** What the service writes down; of labels, states and milestones there are records of another kind. */
export interface Told {
  readonly action: SystemAction
  readonly body: string
  /** Something else that is named: who may not see it does not see the note. */
  readonly of?: Target | undefined
}

export function issueTarget(
  id: number,
  projectId: number,
): Target & { readonly kind: 'Issue'; readonly id: number } {
  return { kind: 'Issue', id, projectId, namespaceId: null }
}

/** Notes of the service on an issue or an epic. */
export async function tell(
  tx: Tx,
  on: Target,
  authorId: number | null,
  told: readonly Told[],
): Promise<void> {
  await addSystemNotes(
    tx,
    told.map(({ action, body, of }) => ({
      on,
      action,
      body,
      authorId,
      ...(of !== undefined && { reference: of }),
    })),
  )
}

/** Tells each of two issues, in the order of their ids, of the other one, which `words` gets the name of: `#5`. */
export async function tellEachOther(
  tx: Tx,
  authorId: number | null,
  pair: readonly [number, number],
  words: (own: number, other: string) => Omit<Told, 'of'>,
): Promise<void> {
  const { rows } = await sql<{ id: number; iid: number; project_id: number; full_path: string }>`
    select i.id, i.iid, i.project_id, p.full_path from issues i join projects p on p.id = i.project_id
    where i.id = any (${[...pair]}::bigint[]) order by i.id`.execute(tx)
  for (const own of rows) {
    const other = rows.find(({ id }) => id !== own.id)
    if (other === undefined) continue
    const name = other.project_id === own.project_id ? `#${other.iid}` : `${other.full_path}#${other.iid}`
    const of = issueTarget(other.id, other.project_id)
    await tell(tx, issueTarget(own.id, own.project_id), authorId, [{ ...words(own.id, name), of }])
  }
}

/** `June 1, 2025` */
export function writeDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' })
}

/** Texts and secrecy, which issues and epics have alike. `called`: `issue`, `epic`. */
export function toldOfTexts(
  before: { readonly title: string; readonly description: string | null },
  now: {
    readonly title?: string | undefined
    readonly description?: string | null | undefined
    readonly confidential?: boolean | undefined
  },
  called: string,
): Told[] {
  const told: Told[] = []
  if (now.title !== undefined) {
    told.push({ action: 'title', body: `changed title from **{-${before.title}-}** to **{+${now.title}+}**` })
  }
  if (now.description !== undefined) told.push(...toldOfDescription(before.description, now.description))
  if (now.confidential !== undefined) {
    told.push(
      now.confidential
        ? { action: 'confidential', body: `made the ${called} confidential` }
        : { action: 'visible', body: `made the ${called} visible to everyone` },
    )
  }
  return told
}

/** Who only ticks items of a checklist has not changed the text. */
function toldOfDescription(before: string | null, now: string | null): Told[] {
  const ticked = changedTasks(before, now)
  if (ticked.length === 0) return [{ action: 'description', body: 'changed the description' }]
  return ticked.map(({ text, done }) => ({
    action: 'task',
    body: `marked the checklist item **${text}** as ${done ? 'completed' : 'incomplete'}`,
  }))
}

/** `changed due date to June 1, 2025` */
export function toldOfDay(called: string, before: string | null, now: string | null): Told {
  return {
    action: 'start_date_or_due_date',
    body:
      now === null
        ? `removed ${called} ${before === null ? '' : writeDay(before)}`.trimEnd()
        : `changed ${called} to ${writeDay(now)}`,
  }
}

/** What a change of columns tells. */
export function toldOfChange(before: StoredIssue, now: IssueColumns): Told[] {
  const told = toldOfTexts(before, now, 'issue')
  if (now.due_date !== undefined) told.push(toldOfDay('due date', before.due_date, now.due_date))
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
export function toldOfAssignees(tx: Tx, was: readonly number[], now: readonly number[]): Promise<Told[]> {
  return toldOfPeople(tx, { was, now }, { action: 'assignee', come: 'assigned to', gone: 'unassigned' })
}

/** Who has come to a list of people and who has gone, in these words. */
export async function toldOfPeople(
  tx: Tx,
  { was, now }: { readonly was: readonly number[]; readonly now: readonly number[] },
  words: { readonly action: SystemAction; readonly come: string; readonly gone: string },
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
  const pieces = [come && `${words.come} ${come}`, gone && `${words.gone} ${gone}`].filter(
    (piece) => piece !== '',
  )
  return [{ action: words.action, body: pieces.join(' and ') }]
}

export function toldOfEstimate(seconds: number): Told {
  const text = writeDuration(seconds)
  return {
    action: 'time_tracking',
    body: text === null ? 'removed time estimate' : `changed time estimate to ${text}`,
  }
}

/** Null: all of it was removed. */
export function toldOfSpent(seconds: number | null, at = new Date()): Told {
  const body =
    seconds === null
      ? 'removed time spent'
      : `${seconds < 0 ? 'subtracted' : 'added'} ${writeDuration(Math.abs(seconds))} of time spent at ${at.toISOString().slice(0, 10)}`
  return { action: 'time_tracking', body }
}
