import {
  decide,
  defaultFeatureLevels,
  isAdministrator,
  require,
  Visibility,
  type Actor,
  type ProjectSubject,
  type VisibilityName,
} from '../../access/index.ts'
import { branchRef, listBranches, setDefaultBranch } from '../../git/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import { lockTree, movePath } from '../namespaces/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { checkBelowSource, unlinkOpenForks } from './forking.ts'
import { checkRunners, tellPathFault } from './create.ts'
import { changeLevels, storedLevels } from './feature-levels.ts'
import * as rules from './rules.ts'
import { allSettings, changeSettings, storedSettings } from './settings.ts'
import * as store from './store.ts'

/** What a request changes; settings and feature levels stand beside these under their own names. */
export interface UpdateParams {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: VisibilityName | undefined
  readonly default_branch?: string | null | undefined
  readonly topics?: readonly string[] | undefined
  readonly tag_list?: readonly string[] | undefined
}

/** Changes a project: all that was asked for or nothing. */
export async function updateProject(
  { db, places, settings }: { db: Database; places: RepositoryPlaces; settings: SettingValues },
  actor: Actor,
  subject: ProjectSubject,
  params: UpdateParams,
): Promise<void> {
  await db.transaction(async (tx) => {
    // A new path must not miss a renaming of what lies above, nor a new visibility that of the group.
    await lockTree(tx, subject.line[0]!, 'share')
    const before = await store.lock(tx, subject.id)
    if (before === undefined) throw notFound('Project')
    const after = changed(before, params)
    checkLevel(actor, subject, before, params, settings)
    checkRetention(actor, subject, before, after)
    if (after.name !== before.name || after.path !== before.path) await move(tx, before, after)
    if (after.default_branch !== before.default_branch) await moveHead(places, before, after.default_branch)
    await store.change(tx, before.id, after)
    if (after.visibility < before.visibility) await unlinkOpenForks(tx, before.id, after.visibility)
  })
}

function changed(before: store.LockedProject, params: UpdateParams): store.ProjectChanges {
  const values = params as Readonly<Record<string, unknown>>
  const name = params.name?.trim() ?? before.name
  const path = params.path ?? before.path
  const description = params.description === undefined ? before.description : params.description
  const topics = params.topics ?? params.tag_list ?? before.topics
  const settingsBefore = allSettings(before.settings)
  const settings = changeSettings(settingsBefore, values)
  const levels = changeLevels({ ...defaultFeatureLevels, ...before.feature_levels }, values)
  rules.check({ name, path: path === before.path ? undefined : path, description, topics, settings })
  if (settings.shared_runners_enabled && !settingsBefore.shared_runners_enabled) {
    checkRunners({ settings: before.namespace_settings }, true)
  }
  return {
    name,
    path,
    full_path: `${before.namespace_full_path}/${path}`,
    description,
    visibility: params.visibility === undefined ? before.visibility : Visibility[params.visibility],
    default_branch: params.default_branch ?? before.default_branch,
    settings: storedSettings(settings),
    feature_levels: storedLevels(levels),
    topics: [...new Set(topics)],
  }
}

/** Another visibility is for Owners, and no higher than the group's. */
function checkLevel(
  actor: Actor,
  subject: ProjectSubject,
  before: store.LockedProject,
  { visibility }: UpdateParams,
  settings: SettingValues,
): void {
  if (visibility === undefined || Visibility[visibility] === before.visibility) return
  if (!decide(actor, 'change_visibility', subject, true).allowed) throw forbidden()
  rules.checkVisibility(Visibility[visibility], {
    kind: before.namespace_kind,
    visibility: before.namespace_visibility,
  })
  if (before.source_visibility !== null) checkBelowSource(Visibility[visibility], before.source_visibility)
  rules.checkRestricted(Visibility[visibility], settings.restricted_visibility_levels, isAdministrator(actor))
}

/** That pipelines go by themselves is decided by those who may delete them. */
function checkRetention(
  actor: Actor,
  subject: ProjectSubject,
  before: store.LockedProject,
  after: store.ProjectChanges,
): void {
  const name = 'ci_delete_pipelines_in_seconds'
  if (after.settings[name] !== before.settings[name]) require(actor, 'destroy_pipeline', subject)
}

async function move(tx: Tx, before: store.LockedProject, after: store.ProjectChanges): Promise<void> {
  rules.checkTaken(
    await store.findTaken(tx, {
      namespaceId: before.namespace_id,
      name: after.name,
      fullPath: after.full_path,
      exceptId: before.id,
    }),
  )
  await movePath(tx, before.id, before.full_path, after.full_path).catch(tellPathFault)
}

/** The branch must be there, unless there is none at all yet. */
async function moveHead(
  places: RepositoryPlaces,
  before: store.LockedProject,
  branch: string | null,
): Promise<void> {
  const ref = branch === null ? undefined : branchRef(branch)
  if (branch === null || ref === undefined) throw rules.missingBranch(branch ?? '')
  const repository = places.of(before)
  if (!before.repository_empty) {
    const branches = await listBranches(repository, before.refs_version)
    if (!branches.some(({ name }) => name === branch)) throw rules.missingBranch(branch)
  }
  await setDefaultBranch(repository, ref)
}
