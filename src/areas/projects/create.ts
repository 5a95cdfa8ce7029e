import {
  decide,
  defaultFeatureLevels,
  findGroup,
  isAdministrator,
  isMoreThanGuest,
  type Actor,
  type User,
  type VisibilityName,
} from '../../access/index.ts'
import { branchRef, createRepository, deleteRepository } from '../../git/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import { claimPath, lockTree, pathFault, slug } from '../namespaces/index.ts'
import { inheritPushRule } from '../push-rules/index.ts'
import { chooseStorage, type RepositoryPlaces } from '../repository/index.ts'
import { changeLevels, storedLevels } from './feature-levels.ts'
import * as rules from './rules.ts'
import { allSettings, changeSettings, settingDefaults, storedSettings } from './settings.ts'
import * as store from './store.ts'

/** What a request says of a new project; settings and feature levels stand beside these under their own names. */
export interface CreateParams {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly namespace_id?: number | undefined
  readonly description?: string | null | undefined
  readonly visibility?: VisibilityName | undefined
  readonly default_branch?: string | null | undefined
  readonly topics?: readonly string[] | undefined
  readonly tag_list?: readonly string[] | undefined
  readonly template_name?: string | undefined
  readonly template_project_id?: number | undefined
}

/** Who creates, and for whom: his own namespace is where a project goes that names none. */
export interface Creator {
  /** Whose rights count. */
  readonly actor: Actor
  readonly user: User
}

export interface CreatedProject {
  readonly id: number
  readonly storage: string
  readonly name: string
  readonly description: string | null
  readonly defaultBranch: string
  readonly repositoryEmpty: true
}

/** A project with its path and an empty repository, and what `then` makes of it: all of that or nothing. */
export async function createProject(
  services: { db: Database; places: RepositoryPlaces; settings: SettingValues },
  creator: Creator,
  params: CreateParams,
  then?: (tx: Tx, id: number) => Promise<void>,
): Promise<CreatedProject> {
  const { db, places, settings } = services
  rules.checkTemplate(params)
  return db.transaction(async (tx) => {
    const home = await lockHome(tx, creator, params.namespace_id)
    if (home.kind === 'user') await checkGuest(tx, creator, settings)
    const storage = chooseStorage(settings.repository_storages_weighted, places.storages)
    const project = newProject(home, creator, params, settings, storage)
    const fullPath = `${home.full_path}/${project.path}`
    rules.checkTaken(await store.findTaken(tx, { namespaceId: home.id, name: project.name, fullPath }))
    const id = await store.insert(tx, project)
    await inheritPushRule(tx, id)
    await claimPath(tx, fullPath, { projectId: id }).catch(tellPathFault)
    const repository = places.of({ id, storage: project.storage })
    // A crash, or a database put back from a backup, may have left one of this id: nobody may find it in his project.
    await deleteRepository(repository)
    await createRepository(repository, { defaultBranch: branchRef(project.defaultBranch)! })
    await then?.(tx, id)
    return { ...project, id, repositoryEmpty: true }
  })
}

/** Tells what is wrong with a path in the words of the API. */
export function tellPathFault(error: unknown): never {
  const fault = pathFault(error)
  throw fault === undefined ? error : rules.badPath(fault)
}

/** The namespace that the project goes to, held still. Whatever speaks against it, the refusal is the same. */
async function lockHome(
  tx: Tx,
  { actor, user }: Creator,
  namespaceId: number | undefined,
): Promise<store.Home> {
  const by = namespaceId === undefined ? { userId: user.id } : { namespaceId }
  const before = await store.findHome(tx, by)
  if (before === undefined) throw rules.invalidNamespace()
  await lockTree(tx, before.root, 'share')
  const home = await store.findHome(tx, by)
  if (home === undefined) throw rules.invalidNamespace()
  if (home.kind === 'group') {
    const group = await findGroup(tx, actor, home.id)
    if (group === undefined || !decide(actor, 'create_projects', group, true).allowed)
      throw rules.invalidNamespace()
  } else {
    if (home.owner_id !== user.id && !isAdministrator(actor)) throw rules.invalidNamespace()
    rules.checkLimit(home.projects_limit ?? 0, home.projects)
  }
  return home
}

/** The instance may keep those who are guests at most from having projects of their own. */
async function checkGuest(tx: Tx, { actor, user }: Creator, settings: SettingValues): Promise<void> {
  if (settings.allow_project_creation_for_guest_and_below || isAdministrator(actor)) return
  if (!(await isMoreThanGuest(tx, user.id))) throw forbidden()
}

function newProject(
  home: store.Home,
  { actor, user }: Creator,
  params: CreateParams,
  settings: SettingValues,
  storage: string,
): store.NewProject {
  const name = (params.name ?? params.path ?? '').trim()
  const path = params.path ?? slug(name)
  const description = params.description ?? null
  const topics = [...new Set(params.topics ?? params.tag_list)]
  const chosen = changeSettings(startingSettings(home, settings), params as Readonly<Record<string, unknown>>)
  checkRunners(home, chosen.shared_runners_enabled)
  const levels = changeLevels(defaultFeatureLevels, params as Readonly<Record<string, unknown>>)
  rules.check({ name, path, description, topics, settings: chosen })

  const visibility = rules.chooseVisibility(params.visibility, settings.default_project_visibility, home)
  if (params.visibility !== undefined) {
    rules.checkRestricted(visibility, settings.restricted_visibility_levels, isAdministrator(actor))
  }
  const defaultBranch = firstOf(
    params.default_branch,
    home.settings['default_branch'],
    settings.default_branch_name,
  )
  if (branchRef(defaultBranch) === undefined) throw rules.invalidBranch()
  return {
    home,
    creatorId: user.id,
    name,
    path,
    description,
    visibility,
    defaultBranch,
    settings: storedSettings(chosen),
    featureLevels: storedLevels(levels),
    topics,
    storage,
  }
}

function firstOf(...names: unknown[]): string {
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? 'main'
}

/** What a project begins with where the request says nothing. */
function startingSettings(home: store.Home, instance: SettingValues) {
  const runners = home.settings['shared_runners_setting'] ?? 'enabled'
  return allSettings({
    ...settingDefaults,
    ci_config_path: instance.default_ci_config_path,
    shared_runners_enabled: instance.shared_runners_enabled && runners === 'enabled',
    auto_devops_enabled: home.settings['auto_devops_enabled'] ?? instance.auto_devops_enabled,
  })
}

/** A group may have closed the runners of the instance to all that lies in it. */
export function checkRunners(
  group: { readonly settings: Readonly<Record<string, unknown>> },
  enabled: boolean,
): void {
  if (enabled && group.settings['shared_runners_setting'] === 'disabled_and_unoverridable')
    throw rules.runnersRefused()
}
