import type { Actor, ProjectSubject } from '../../access/index.ts'
import { userOf } from '../../access/index.ts'
import { offers } from '../../kernel/config/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { invalid, refused } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { mayOverrideRules } from './approvals/rules.ts'
import { askForApprovals } from './approvals/store.ts'
import { headIn } from './branches.ts'
import { alreadyOpen } from './create.ts'
import { noteClosing } from './issues.ts'
import { recordState } from '../noteables/index.ts'
import { announce } from './news.ts'
import { planRequest } from './planning.ts'
import { findProjects } from './projects.ts'
import type { MergeRequestRow } from './rows.ts'
import { checkPeople, checkTexts } from './rules.ts'
import type { MergeRequestServices } from './services.ts'
import * as store from './store.ts'
import { tellOf, toldOfLists, toldOfUpdate } from './system-notes.ts'
import { autoMergeTask } from './tasks.ts'
import { refreshMergeRequest } from './versions/refresh.ts'

export interface Update {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly target_branch?: string | undefined
  readonly state_event?: 'close' | 'reopen' | undefined
  readonly assigneeIds?: readonly number[] | undefined
  readonly reviewerIds?: readonly number[] | undefined
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
  readonly milestone_id?: number | null | undefined
  readonly discussion_locked?: boolean | null | undefined
  readonly remove_source_branch?: boolean | null | undefined
  readonly squash?: boolean | undefined
  readonly allow_collaboration?: boolean | undefined
  readonly allow_maintainer_to_push?: boolean | undefined
  readonly merge_after?: Date | null | undefined
  readonly approvals_before_merge?: number | undefined
}

/** Changes what is given. A new target branch makes a new version at once. */
export async function updateMergeRequest(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  row: MergeRequestRow,
  update: Update,
): Promise<void> {
  const { db } = services
  checkTexts({ title: update.title, description: update.description })
  checkPeople('assignees', update.assigneeIds ?? [])
  checkPeople('reviewers', update.reviewerIds ?? [])
  const target = update.target_branch
  const retargets = target !== undefined && target !== row.target_branch
  if (retargets) await requireTarget(services, project, row, target)
  if (update.state_event === 'reopen' && row.state === 'closed') await requireSource(services, row)
  try {
    await db.transaction(async (tx) => {
      const before = await store.lock(tx, row.id)
      if (before !== undefined) await write(services, tx, { actor, project }, before, update, retargets)
    })
  } catch (error) {
    if (!(error instanceof store.AlreadyOpen)) throw error
    const other = await store.findOpen(db.reader, {
      sourceProjectId: row.source_project_id ?? 0,
      sourceBranch: row.source_branch,
      projectId: row.project_id,
      targetBranch: target ?? row.target_branch,
    })
    throw alreadyOpen(other?.iid ?? 0)
  }
  if (retargets || update.state_event === 'reopen') {
    await refreshMergeRequest(services, row.id, { by: userOf(actor).id, anew: retargets })
  }
}

async function write(
  services: MergeRequestServices,
  tx: Tx,
  writing: { readonly actor: Actor; readonly project: ProjectSubject },
  before: MergeRequestRow,
  update: Update,
  retargets: boolean,
): Promise<void> {
  const { actor } = writing
  const changes: Record<string, { from: unknown; to: unknown }> = {}
  const note = (name: string, from: unknown, to: unknown): void => {
    if (to !== undefined && JSON.stringify(from) !== JSON.stringify(to)) changes[name] = { from, to }
  }
  const title = update.title?.trim()
  note('title', before.title, title)
  note('description', before.description, update.description)
  note('target_branch', before.target_branch, update.target_branch)
  note('discussion_locked', before.discussion_locked, update.discussion_locked)
  note('squash', before.squash, update.squash)
  const closes = update.state_event === 'close' && before.state === 'opened'
  const reopens = update.state_event === 'reopen' && before.state === 'closed'
  await store.change(tx, before.id, {
    ...(title !== undefined && { title }),
    ...(update.description !== undefined && { description: update.description }),
    ...(retargets && { target_branch: update.target_branch! }),
    ...(update.squash !== undefined && { squash: update.squash }),
    ...(update.remove_source_branch !== undefined && { remove_source_branch: update.remove_source_branch }),
    ...collaboration(before, update),
    ...(update.discussion_locked !== undefined && { discussion_locked: update.discussion_locked }),
    ...(update.merge_after !== undefined && { merge_after: update.merge_after }),
    ...(closes && {
      state: 'closed' as const,
      closed_at: new Date(),
      closed_by_id: userOf(actor).id,
      auto_merge: false,
      merge_params: '{}',
    }),
    ...(reopens && { state: 'opened' as const, closed_at: null, closed_by_id: null }),
  })
  const told = toldOfUpdate(before, { ...update, title })
  for (const [name, table, wanted] of [
    ['assignees', 'merge_request_assignees', update.assigneeIds],
    ['reviewers', 'merge_request_reviewers', update.reviewerIds],
  ] as const) {
    if (wanted === undefined) continue
    const readers = await store.readersAmong(tx, before.project_id, wanted)
    const limited = offers(services.plan, 'several_assignees') ? readers : readers.slice(0, 1)
    const { added, removed } = await store.setPeople(tx, table, before.id, limited)
    if (added.length + removed.length > 0) {
      const was = before[name].map(({ id }) => id)
      changes[name] = { from: was, to: limited }
      told.push(...(await toldOfLists(tx, name, { was, now: limited })))
    }
  }
  if (update.description !== undefined) {
    await noteClosing(tx, actor, writing.project, before.id, update.description)
  }
  const approvals = update.approvals_before_merge
  if (approvals !== undefined && mayOverrideRules(actor, writing.project, services)) {
    await askForApprovals(tx, { projectId: before.project_id, mergeRequestId: before.id }, approvals)
  }
  const plan = { id: before.id, milestone_id: before.milestone?.id ?? null, state: before.state }
  Object.assign(changes, await planRequest(tx, writing, plan, update))
  await tellOf(tx, before, userOf(actor).id, told)
  const noteable = { type: 'MergeRequest', id: before.id } as const
  if (closes) await recordState(tx, noteable, userOf(actor).id, { state: 'closed' })
  if (reopens) await recordState(tx, noteable, userOf(actor).id, { state: 'reopened' })
  if (closes) await announce(services, tx, before, actor, { action: 'close' })
  if (reopens) await announce(services, tx, before, actor, { action: 'reopen' })
  if (Object.keys(changes).length > 0)
    await announce(services, tx, before, actor, { action: 'update', changes })
  if (before.auto_merge && !closes) {
    const after = update.merge_after === undefined ? before.merge_after : update.merge_after
    const when = after === null ? {} : { runAt: new Date(after) }
    await enqueue(tx, autoMergeTask, { id: before.id }, when)
  }
}

/** Of a fork only: in one project there is nobody to let in. */
function collaboration(before: MergeRequestRow, update: Update): { allow_collaboration?: boolean } {
  const wanted = update.allow_collaboration ?? update.allow_maintainer_to_push
  return wanted === undefined || before.source_project_id === before.project_id
    ? {}
    : { allow_collaboration: wanted }
}

async function requireTarget(
  { places }: MergeRequestServices,
  project: ProjectSubject,
  row: MergeRequestRow,
  branch: string,
): Promise<void> {
  if (row.state !== 'opened' && row.state !== 'closed') {
    throw refused(422, ['The target branch of a merged merge request cannot be changed'])
  }
  if (row.source_project_id === project.id && row.source_branch === branch) {
    throw refused(422, ["You can't use same project/branch for source and target"])
  }
  if ((await headIn(places, project, branch)) === undefined)
    throw invalid({ target_branch: ['does not exist'] })
}

/** Reopened is only what still has its source branch. */
async function requireSource({ db, places }: MergeRequestServices, row: MergeRequestRow): Promise<void> {
  const source = (await findProjects(db.reader, [row.source_project_id])).get(row.source_project_id ?? 0)
  if (source === undefined) throw refused(422, ['Source project is gone'])
  if ((await headIn(places, source, row.source_branch)) === undefined) {
    throw refused(422, [`Source branch "${row.source_branch}" does not exist. Please restore it to reopen`])
  }
}
