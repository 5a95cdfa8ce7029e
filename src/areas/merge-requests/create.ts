import {
  find,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { offers } from '../../kernel/config/index.ts'
import { forbidden, invalid, notFound, refused } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { bringCommits } from '../repository/index.ts'
import { mayOverrideRules } from './approvals/rules.ts'
import { askForApprovals } from './approvals/store.ts'
import { headIn } from './branches.ts'
import { noteClosing } from './issues.ts'
import { announce } from './news.ts'
import { planRequest } from './planning.ts'
import { checkPeople, checkTexts } from './rules.ts'
import type { MergeRequestServices } from './services.ts'
import * as store from './store.ts'
import { tellOf, toldOfLists } from './system-notes.ts'
import { prepareTask } from './tasks.ts'
import { withCommitters } from './versions/committers.ts'
import { computeVersion } from './versions/compute.ts'
import { keepCommits, pointRequestRef } from './versions/refs.ts'

export interface Wanted {
  readonly source: ProjectSubject
  readonly target: ProjectSubject
  readonly sourceBranch: string
  readonly targetBranch: string
  readonly title: string
  readonly description: string | null
  readonly assigneeIds: readonly number[]
  readonly reviewerIds: readonly number[]
  readonly labels?: readonly string[] | undefined
  readonly squash: boolean
  readonly removeSourceBranch: boolean | null
  readonly allowCollaboration: boolean
  readonly mergeAfter: Date | null
  readonly milestoneId: number | null
  /** Approvals of anybody, on paid plans where requests may say it. */
  readonly approvals?: number | undefined
}

/** The project that a request is made into, and whether the caller may; refused in the words of the API. */
export async function targetFor(
  { db }: Pick<MergeRequestServices, 'db'>,
  actor: Actor,
  source: ProjectSubject,
  targetId: number | undefined,
): Promise<ProjectSubject> {
  const target =
    targetId === undefined || targetId === source.id
      ? source
      : await find<ProjectSubject>(db.reader, projectKind, actor, String(targetId))
  if (target === undefined) throw notFound('Project')
  if (target.id !== source.id && !(await store.areRelated(db.reader, source.id, target.id))) {
    throw refused(422, ['Source project is not a fork of the target project'])
  }
  if (target.features.merge_requests === 0) {
    if (target.id === source.id) throw forbidden()
    throw refused(422, ['Target project has disabled merge requests'])
  }
  if (!may(actor, 'create_merge_request_in', target)) throw forbidden()
  return target
}

/**
 * A new request, with its first version. Its commits are in the repository of the target, and kept there, before it is
 * stored; its ref follows, and a task sees to that should it be kept from it.
 */
export async function createMergeRequest(
  services: MergeRequestServices,
  actor: Actor,
  wanted: Wanted,
): Promise<number> {
  const { db, places, settings, plan } = services
  const { source, target, sourceBranch, targetBranch } = wanted
  checkTexts(wanted)
  checkPeople('assignees', wanted.assigneeIds)
  checkPeople('reviewers', wanted.reviewerIds)
  if (source.id === target.id && sourceBranch === targetBranch) {
    throw refused(422, ["You can't use same project/branch for source and target"])
  }
  const branches = { sourceProjectId: source.id, sourceBranch, projectId: target.id, targetBranch }
  const open = await store.findOpen(db.reader, branches)
  if (open !== undefined) throw alreadyOpen(open.iid)
  const [head, start] = await Promise.all([
    headIn(places, source, sourceBranch),
    headIn(places, target, targetBranch),
  ])
  if (head === undefined) throw invalid({ source_branch: ['does not exist'] })
  if (start === undefined) throw invalid({ target_branch: ['does not exist'] })
  await bringCommits(services, source, target, head)
  const repository = places.of(target)
  const computed = await computeVersion(repository, { head, start }, settings.values.diff_max_files)
  const version = await withCommitters(services, computed)
  await keepCommits(services, target, [version.head, version.base, version.start])
  // One person for each, where no plan pays for more.
  const limited = (ids: readonly number[]): readonly number[] =>
    offers(plan, 'several_assignees') ? ids : ids.slice(0, 1)
  const author = userOf(actor).id
  try {
    const made = await db.transaction(async (tx) => {
      const { id, iid } = await store.insert(tx, {
        ...wanted,
        projectId: target.id,
        sourceProjectId: source.id,
        authorId: author,
        version,
      })
      const readers = await store.readersAmong(tx, target.id, [...wanted.assigneeIds, ...wanted.reviewerIds])
      const reading = (ids: readonly number[]): number[] =>
        limited([...new Set(ids)]).filter((one) => readers.includes(one))
      const people = {
        assignees: reading(wanted.assigneeIds),
        reviewers: reading(wanted.reviewerIds),
      } as const
      for (const list of ['assignees', 'reviewers'] as const) {
        const now = people[list]
        await store.setPeople(tx, `merge_request_${list}`, id, now)
        const told = await toldOfLists(tx, list, { was: [], now })
        await tellOf(tx, { id, project_id: target.id }, author, told)
      }
      await planRequest(
        tx,
        { actor, project: target },
        { id, milestone_id: null, state: 'opened' },
        {
          labels: wanted.labels,
          milestone_id: wanted.milestoneId ?? undefined,
        },
      )
      if (wanted.approvals !== undefined && mayOverrideRules(actor, target, services)) {
        await askForApprovals(tx, { projectId: target.id, mergeRequestId: id }, wanted.approvals)
      }
      await noteClosing(tx, actor, target, id, wanted.description)
      await enqueue(tx, prepareTask, { id, user: author })
      await announce(services, tx, { id, iid, project_id: target.id }, actor, { action: 'open' })
      return { id, iid }
    })
    await pointRequestRef(services, target, made.iid, 'head', head)
    return made.id
  } catch (error) {
    if (!(error instanceof store.AlreadyOpen)) throw error
    const other = await store.findOpen(db.reader, branches)
    throw alreadyOpen(other?.iid ?? 0)
  }
}

export function alreadyOpen(iid: number): Error {
  return refused(409, [`Another open merge request already exists for this source branch: !${iid}`])
}
