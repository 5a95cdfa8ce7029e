import { may, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import { changeLabels, labelsNamed, type LabelChange } from '../labels/index.ts'
import { recordMilestone, recordState, recordWeight } from '../noteables/index.ts'
import { tellOfEpic } from './epic-notes.ts'
import { checkAssignees, checkTexts } from './rules.ts'
import * as store from './store.ts'
import { issueTarget, tell, toldOfAssignees, toldOfChange } from './system-notes.ts'

export interface IssueServices {
  readonly events: Events
}

/** Who changes an issue, and the project that it is in. */
export interface Writing {
  readonly actor: Actor
  readonly project: ProjectSubject
}

/** What may be said of an issue; what the caller may not say is left out without a word. */
export interface IssueFields {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly confidential?: boolean | undefined
  readonly discussion_locked?: boolean | null | undefined
  readonly issue_type?: string | undefined
  readonly due_date?: string | null | undefined
  /** 0 or null: none. */
  readonly milestone_id?: number | null | undefined
  /** 0 or null: none. The caller has shown that he may. */
  readonly epic_id?: number | null | undefined
  readonly weight?: number | null | undefined
  readonly health_status?: string | null | undefined
  readonly assignee_ids?: readonly number[] | undefined
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
}

/** Fields that not everybody may set who may write an issue. */
const metadata = [
  'discussion_locked',
  'due_date',
  'milestone_id',
  'epic_id',
  'weight',
  'health_status',
  'assignee_ids',
  'labels',
  'add_labels',
  'remove_labels',
] as const

function without<F extends IssueFields>(fields: F, keys: readonly (keyof IssueFields)[]): F {
  return Object.fromEntries(
    Object.entries(fields).filter(([key]) => !keys.includes(key as keyof IssueFields)),
  ) as F
}

export interface NewIssue extends IssueFields {
  readonly title: string
  /** Only of those who may say so. */
  readonly iid?: number | undefined
  readonly created_at?: Date | undefined
  readonly origin?: store.Origin | undefined
}

/** A new issue; members may say all of it, others title, description, kind and whether it is confidential. */
export async function createIssue(
  { events }: IssueServices,
  tx: Tx,
  { actor, project }: Writing,
  given: NewIssue,
): Promise<{ id: number; iid: number }> {
  const member = project.role >= 10 || may(actor, 'admin_issue', project)
  const fields = member ? given : without(given, metadata)
  checkTexts(fields)
  const importing = may(actor, 'import_issue', project)
  const author = userOf(actor).id
  const milestoneId = fields.milestone_id
    ? await store.milestoneOf(tx, project.id, project.line, fields.milestone_id)
    : null
  const made = await store.create(tx, {
    projectId: project.id,
    authorId: author,
    title: fields.title,
    description: fields.description ?? null,
    confidential: fields.confidential ?? false,
    issueType: fields.issue_type ?? 'issue',
    discussionLocked: fields.discussion_locked ?? null,
    dueDate: fields.due_date ?? null,
    milestoneId,
    epicId: fields.epic_id || null,
    weight: fields.weight ?? null,
    healthStatus: fields.health_status ?? null,
    iid: importing ? (fields.iid ?? null) : null,
    createdAt: importing ? (fields.created_at ?? null) : null,
    origin: fields.origin,
  })
  const noteable = { type: 'Issue', id: made.id } as const
  const assignees = await assigned(tx, project.id, fields.assignee_ids)
  if (assignees !== undefined && assignees.length > 0) {
    await store.setAssignees(tx, made.id, assignees)
    await tell(tx, issueTarget(made.id, project.id), author, await toldOfAssignees(tx, [], assignees))
  }
  await label(tx, { actor, project }, made.id, {
    labels: [...(fields.labels ?? []), ...(fields.add_labels ?? [])],
  })
  await tellOfEpic(tx, author, made.id, { from: null, to: fields.epic_id || null })
  await recordMilestone(tx, noteable, author, { from: null, to: milestoneId, state: 'opened' })
  if (fields.weight != null) await recordWeight(tx, noteable, author, fields.weight)
  await events.announce(tx, 'issue', {
    projectId: project.id,
    userId: author,
    payload: { action: 'open', issue_id: made.id, assignee_ids: assignees ?? [] },
  })
  return made
}

export interface IssueChange extends IssueFields {
  readonly state_event?: 'close' | 'reopen' | undefined
  readonly updated_at?: Date | undefined
  /** What made the change, when it was no request of the caller's. */
  readonly closedBy?: { readonly commit?: string; readonly mergeRequestId?: number }
  readonly moved_to_id?: number | undefined
}

/**
 * Changes an issue. The caller may write it: he is its author, is assigned to it or may change any. Only the last
 * changes more than its texts, its kind and its state.
 */
export async function changeIssue(
  { events }: IssueServices,
  tx: Tx,
  { actor, project }: Writing,
  id: number,
  given: IssueChange,
): Promise<void> {
  const before = await store.lock(tx, id)
  if (before === undefined) throw recordNotFound()
  const all = may(actor, 'admin_issue', project)
  const change = all ? given : without(given, [...metadata, 'confidential'])
  checkTexts(change)
  const user = userOf(actor).id
  const noteable = { type: 'Issue', id } as const

  const milestoneId =
    change.milestone_id === undefined
      ? before.milestone_id
      : change.milestone_id
        ? await store.milestoneOf(tx, project.id, project.line, change.milestone_id)
        : null
  const state =
    change.state_event === undefined ? before.state : change.state_event === 'close' ? 'closed' : 'opened'
  const columns = differing(before, {
    title: change.title,
    description: change.description,
    confidential: change.confidential,
    discussion_locked: change.discussion_locked,
    issue_type: change.issue_type,
    due_date: change.due_date,
    epic_id: change.epic_id === undefined ? undefined : change.epic_id || null,
    weight: change.weight,
    health_status: change.health_status,
    milestone_id: milestoneId,
    state,
    moved_to_id: change.moved_to_id,
  })
  const assignees = await assigned(tx, project.id, change.assignee_ids)
  const reassigned = assignees !== undefined && assignees.join() !== before.assignee_ids.join()
  if (reassigned) await store.setAssignees(tx, id, assignees)
  const labels = await label(tx, { actor, project }, id, change)
  const changed = Object.keys(columns).length > 0
  if (!changed && !reassigned && !labels && change.updated_at === undefined) return

  await store.update(
    tx,
    id,
    {
      ...columns,
      ...(columns.state !== undefined && { closed_by_id: state === 'closed' ? user : null }),
      ...(columns.state === 'opened' && { duplicated_to_id: null }),
      ...((columns.title ?? columns.description) !== undefined && { last_edited_by_id: user }),
    },
    may(actor, 'import_issue', project) ? (change.updated_at ?? null) : null,
  )
  if (columns.state !== undefined) {
    await recordState(tx, noteable, user, {
      state: state === 'closed' ? 'closed' : 'reopened',
      sourceCommit: change.closedBy?.commit,
      sourceMergeRequestId: change.closedBy?.mergeRequestId,
    })
  }
  await recordMilestone(tx, noteable, user, { from: before.milestone_id, to: milestoneId, state })
  if (columns.weight !== undefined) await recordWeight(tx, noteable, user, columns.weight)
  await tell(tx, issueTarget(id, before.project_id), user, [
    ...toldOfChange(before, columns),
    ...(reassigned ? await toldOfAssignees(tx, before.assignee_ids, assignees) : []),
  ])
  if (columns.epic_id !== undefined) {
    await tellOfEpic(tx, user, id, { from: before.epic_id, to: columns.epic_id })
  }
  const was = Object.fromEntries(
    Object.keys(columns).map((key) => [key, before[key as keyof store.StoredIssue]]),
  )
  await events.announce(tx, 'issue', {
    projectId: project.id,
    userId: user,
    payload: {
      action: change.state_event !== undefined && columns.state !== undefined ? change.state_event : 'update',
      issue_id: id,
      was,
      now: columns,
      ...(reassigned && { assignees: { was: before.assignee_ids, now: assignees } }),
    },
  })
}

/** What a change would write that is not there already. */
function differing(
  before: store.StoredIssue,
  wanted: { readonly [Key in keyof store.IssueColumns]: store.IssueColumns[Key] | undefined },
): store.IssueColumns {
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([key, value]) => value !== undefined && value !== before[key as keyof store.StoredIssue],
    ),
  )
}

/** Undefined: nobody was named. 0 stands for nobody, and who may not see the project is left out. */
async function assigned(
  tx: Tx,
  projectId: number,
  ids: readonly number[] | undefined,
): Promise<number[] | undefined> {
  if (ids === undefined) return undefined
  const wanted = [...new Set(ids)].filter((id) => id > 0)
  checkAssignees(wanted)
  return store.assignable(tx, projectId, wanted)
}

/** Whether labels changed. Titles that there are not become labels of the project where the caller may make them. */
async function label(
  tx: Tx,
  { actor, project }: Writing,
  id: number,
  { labels, add_labels: add = [], remove_labels: remove = [] }: IssueFields,
): Promise<boolean> {
  if (labels === undefined && add.length === 0 && remove.length === 0) return false
  const place = { projectId: project.id, line: project.line }
  const create = may(actor, 'admin_label', project)
  const named = (titles: readonly string[], make: boolean) => labelsNamed(tx, place, titles, make)
  const change: LabelChange =
    labels === undefined
      ? { add: await named(add, create), remove: await named(remove, false) }
      : {
          set: await named(
            [...labels, ...add].filter((title) => !remove.includes(title)),
            create,
          ),
        }
  const { added, removed } = await changeLabels(tx, { type: 'Issue', id }, change, userOf(actor).id)
  return added.length > 0 || removed.length > 0
}
