import { sql } from '../../kernel/db/index.ts'
import { find, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { branchName, isZero, type UpdateOutcome } from '../../git/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { createMergeRequest } from './create.ts'
import { webUrl } from './entities.ts'
import { scheduleMerge } from './merging/auto.ts'
import { findDetail, mayMerge } from './reading/one.ts'
import { titleAs } from './rules.ts'
import type { MergeRequestServices } from './services.ts'
import * as store from './store.ts'
import { updateMergeRequest, type Update } from './update.ts'

/** Branches of one push for which options are heeded. */
const mostBranches = 10

interface Options {
  create?: boolean
  target?: string
  target_project?: string
  title?: string
  description?: string
  draft?: boolean
  milestone?: string
  remove_source_branch?: boolean
  squash?: boolean
  auto_merge?: boolean
  readonly label: string[]
  readonly unlabel: string[]
  readonly assign: string[]
  readonly unassign: string[]
}

/** Of `merge_request.create`, `merge_request.title=...` and so on, also as `mr.`; undefined where there is none. */
export function mergeRequestOptions(pushOptions: readonly string[]): Options | undefined {
  const found: Options = { label: [], unlabel: [], assign: [], unassign: [] }
  let any = false
  for (const option of pushOptions) {
    const match = /^(?:merge_request|mr)\.(\w+)(?:=(.*))?$/s.exec(option)
    if (match === null) continue
    const [, written = '', value] = match
    const name = written === 'merge_when_pipeline_succeeds' ? 'auto_merge' : written
    any = true
    switch (name) {
      case 'create':
      case 'draft':
      case 'remove_source_branch':
      case 'squash':
      case 'auto_merge':
        found[name] = value === undefined || !/^(?:false|0|no)$/i.test(value)
        break
      case 'target':
      case 'target_project':
      case 'title':
      case 'milestone':
        if (value !== undefined) found[name] = value
        break
      case 'description':
        if (value !== undefined) found.description = value.replaceAll('\\n', '\n')
        break
      case 'label':
      case 'unlabel':
      case 'assign':
      case 'unassign':
        if (value !== undefined) found[name].push(value)
        break
      default:
    }
  }
  return any ? found : undefined
}

/**
 * What follows a push for its pusher: requests are made and changed as its options say, and he is told where they are.
 * What cannot be done is told too; the push stands.
 */
export async function afterPush(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  { applied }: Pick<UpdateOutcome, 'applied'>,
  pushOptions: readonly string[],
): Promise<string[]> {
  const branches = applied.flatMap(({ ref, newOid }) => (isZero(newOid) ? [] : (branchName(ref) ?? [])))
  const options = mergeRequestOptions(pushOptions)
  const warnings: string[] = []
  if (options !== undefined && branches.length > 0) {
    const named = pushOptions.map((option) => `'${option}'`).join(', ')
    const warn = (why: string): void => {
      warnings.push(`Error encountered with push options ${named}: ${why}`)
    }
    if (branches.length > mostBranches) {
      warn(`Too many branches pushed (${branches.length} were pushed, limit is ${mostBranches})`)
    } else {
      // The project as it is after the push.
      const now = await find<ProjectSubject>(services.db.writer, projectKind, actor, String(project.id))
      for (const branch of branches) {
        const why =
          now === undefined ? 'User access was denied' : await heed(services, actor, now, branch, options)
        if (why !== undefined) warn(why)
      }
    }
  }
  return [
    ...(warnings.length > 0 ? ['', 'WARNINGS:', '', ...warnings, ''] : []),
    ...(await links(services, project, branches)),
  ]
}

/** Why the options could not be heeded for a branch, or undefined. */
async function heed(
  services: MergeRequestServices,
  actor: Actor,
  source: ProjectSubject,
  branch: string,
  options: Options,
): Promise<string | undefined> {
  const { db } = services
  const target =
    options.target_project === undefined
      ? source
      : await find<ProjectSubject>(db.reader, projectKind, actor, options.target_project)
  if (target === undefined) return 'User access was denied'
  if (target.id !== source.id && !(await store.areRelated(db.reader, source.id, target.id))) {
    return `Projects ${source.fullPath} and ${target.fullPath} are not in the same network`
  }
  if (target.features.merge_requests === 0) {
    return `Merge requests are not enabled for project ${target.fullPath}`
  }
  if (!may(actor, 'create_merge_request_from', source) || !may(actor, 'create_merge_request_in', target)) {
    return 'User access was denied'
  }
  const targetBranch = options.target ?? target.defaultBranch ?? ''
  const branches = { sourceProjectId: source.id, sourceBranch: branch, projectId: target.id, targetBranch }
  try {
    const open = await store.findOpen(db.writer, branches)
    if (open === undefined && options.create !== true) {
      return `A merge_request.create push option is required to create a merge request for branch ${branch}`
    }
    const id = open?.id ?? (await create(services, actor, source, target, branch, targetBranch, options))
    await change(services, actor, target, id, options)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return /target_branch/.test(error.message)
      ? `Target branch ${target.fullPath}:${targetBranch} does not exist`
      : error.message
  }
}

async function create(
  services: MergeRequestServices,
  actor: Actor,
  source: ProjectSubject,
  target: ProjectSubject,
  branch: string,
  targetBranch: string,
  options: Options,
): Promise<number> {
  const option = target.settings['squash_option']
  return createMergeRequest(services, actor, {
    source,
    target,
    sourceBranch: branch,
    targetBranch,
    title: titleAs(
      options.title ?? titleOf(branch),
      options.draft === true || /^draft:/i.test(options.title ?? ''),
    ),
    description: options.description ?? null,
    assigneeIds: [],
    reviewerIds: [],
    squash: options.squash ?? (option === 'always' || option === 'default_on'),
    removeSourceBranch: options.remove_source_branch ?? null,
    allowCollaboration: false,
    mergeAfter: null,
    milestoneId: null,
  })
}

/** `fix-the-door` is `Fix the door`. */
function titleOf(branch: string): string {
  const words = branch.replaceAll(/[-_]+/g, ' ').trim()
  return words === '' ? branch : words.charAt(0).toUpperCase() + words.slice(1)
}

async function change(
  services: MergeRequestServices,
  actor: Actor,
  target: ProjectSubject,
  id: number,
  options: Options,
): Promise<void> {
  const { db } = services
  const row = await findDetail(db.writer, id, actor)
  if (row === undefined) return
  const people = await idsOf(services, [...options.assign, ...options.unassign])
  const assigned = new Set(row.assignees.map((user) => user.id))
  for (const name of options.assign) if (people.has(name)) assigned.add(people.get(name)!)
  for (const name of options.unassign) assigned.delete(people.get(name) ?? 0)
  const milestone =
    options.milestone === undefined ? undefined : await milestoneTitled(services, target, options.milestone)
  const title = options.title ?? row.title
  const update: Update = {
    ...((options.title ?? options.draft) !== undefined && {
      title: options.draft === undefined ? title : titleAs(title, options.draft),
    }),
    description: options.description,
    squash: options.squash,
    remove_source_branch: options.remove_source_branch,
    add_labels: options.label,
    remove_labels: options.unlabel,
    ...(people.size > 0 && { assigneeIds: [...assigned] }),
    ...(milestone !== undefined && { milestone_id: milestone }),
  }
  await updateMergeRequest(services, actor, target, row, update)
  if (options.auto_merge === true && mayMerge(actor, target, row)) {
    const fresh = await findDetail(db.writer, id, actor)
    if (fresh !== undefined) await scheduleMerge(services, actor, fresh, {})
  }
}

/** Users by their ids or names, with or without an `@`. */
async function idsOf({ db }: MergeRequestServices, names: readonly string[]): Promise<Map<string, number>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<{ name: string; id: number }>`
    select wanted.name, u.id from unnest(${[...names]}::text[]) wanted (name)
      join users u on lower(u.username) = lower(ltrim(wanted.name, '@')) or u.id::text = wanted.name`.execute(
    db.reader,
  )
  return new Map(rows.map(({ name, id }) => [name, id]))
}

async function milestoneTitled(
  { db }: MergeRequestServices,
  { id, line }: ProjectSubject,
  title: string,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select plan.id from milestones plan
    where (plan.title = ${title} or plan.id::text = ${title})
      and (plan.project_id = ${id} or plan.namespace_id = any (${[...line]}::bigint[]))
    order by plan.project_id nulls last limit 1`.execute(db.reader)
  return rows[0]?.id
}

/** Where the request of each pushed branch is, or may be made. */
async function links(
  { db, externalUrl }: MergeRequestServices,
  project: ProjectSubject,
  branches: readonly string[],
): Promise<string[]> {
  const shown = branches.filter((branch) => branch !== project.defaultBranch).slice(0, mostBranches)
  const off = project.features.merge_requests === 0 || project.repositoryEmpty
  if (shown.length === 0 || off || project.settings['printing_merge_request_link_enabled'] === false)
    return []
  const { rows } = await sql<{ branch: string; iid: number; project_path: string }>`
    select m.source_branch as branch, m.iid, target.full_path as project_path
    from merge_requests m join projects target on target.id = m.project_id
    where m.source_project_id = ${project.id} and m.source_branch = any (${shown}::text[])
      and m.state in ('opened', 'locked') order by m.id`.execute(db.writer)
  return shown.flatMap((branch) => {
    const open = rows.filter((row) => row.branch === branch)
    if (open.length > 0) {
      return [
        '',
        `View merge request for ${branch}:`,
        ...open.map((row) => `  ${webUrl(row, externalUrl())}`),
        '',
      ]
    }
    const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`
    const address = `${externalUrl()}/${project.fullPath}/-/merge_requests/new?${query}`
    return ['', `To create a merge request for ${branch}, visit:`, `  ${address}`, '']
  })
}
