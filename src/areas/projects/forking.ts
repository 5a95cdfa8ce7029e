import {
  decide,
  findGroup,
  isAdministrator,
  Visibility,
  visibilityName,
  type Actor,
  type ProjectSubject,
  type User,
  type VisibilityName,
} from '../../access/index.ts'
import { branchRef, copyRepository, createRepository, deleteRepository, findBranch } from '../../git/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { invalid, notFound, refused } from '../../kernel/errors/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import { claimPath, lockTree, PathTaken } from '../namespaces/index.ts'
import { inheritPushRule } from '../push-rules/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { checkRunners, tellPathFault } from './create.ts'
import * as forks from './fork-store.ts'
import * as rules from './rules.ts'
import { allSettings, storedSettings, type ProjectSettingName } from './settings.ts'
import * as store from './store.ts'

export interface ForkParams {
  readonly namespace_id?: number | undefined
  readonly namespace_path?: string | undefined
  /** Id or full path. */
  readonly namespace?: number | string | undefined
  readonly path?: string | undefined
  readonly name?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: VisibilityName | undefined
  readonly mr_default_target_self?: boolean | undefined
  readonly branches?: string | undefined
}

export interface ForkServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly settings: SettingValues
  readonly door: { adopt(tx: Tx, projectId: number, defaultBranch: string): Promise<void> }
}

/** Settings that a fork begins with as its source has them; for the others it begins as any new project. */
const inherited: readonly ProjectSettingName[] = [
  'ci_config_path',
  'merge_method',
  'merge_commit_template',
  'squash_commit_template',
  'suggestion_commit_message',
  'external_authorization_classification_label',
  'shared_runners_enabled',
  'lfs_enabled',
]

/** A project of the caller's with the branches and tags of another one. All of it or nothing. */
export async function forkProject(
  services: ForkServices,
  { actor, user }: { readonly actor: Actor; readonly user: User },
  source: ProjectSubject,
  params: ForkParams,
): Promise<number> {
  const { db, places, settings } = services
  if (!decide(actor, 'fork_project', source, true).allowed) throw notFound()
  const only = await wantedBranch(places, source, params.branches)
  return db.transaction(async (tx) => {
    const home = await lockTarget(tx, { actor, user }, source, params)
    const origin = await forks.readSource(tx, source.id)
    if (origin === undefined) throw notFound('Project')
    const project = newFork(home, { actor, user }, { ...source, ...origin }, params, settings)
    const fullPath = `${home.full_path}/${project.path}`
    const taken = await store.findTaken(tx, { namespaceId: home.id, name: project.name, fullPath })
    if (taken.name || taken.path) throw alreadyTaken(taken)
    const id = await store.insert(tx, project)
    await inheritPushRule(tx, id)
    await claimPath(tx, fullPath, { projectId: id }).catch((error: unknown) => {
      if (error instanceof PathTaken) throw alreadyTaken({ name: false, path: true })
      return tellPathFault(error)
    })
    await copy(
      services,
      tx,
      { id, storage: project.storage, defaultBranch: project.defaultBranch },
      source,
      only,
    )
    // Last, since it holds the row of the source.
    await forks.link(tx, id, source.id, { copied: true })
    return id
  })
}

async function wantedBranch(places: RepositoryPlaces, source: ProjectSubject, name: string | undefined) {
  if (name === undefined || name === '') return undefined
  const found = source.repositoryEmpty
    ? undefined
    : await findBranch(places.of(source), source.refsVersion, name)
  if (found === undefined) throw notFound('Source Branch')
  return { ref: found, name }
}

/** The namespace that the fork goes to, held still; one that takes no projects of the caller does not exist for him. */
async function lockTarget(
  tx: Tx,
  { actor, user }: { readonly actor: Actor; readonly user: User },
  source: ProjectSubject,
  params: ForkParams,
): Promise<store.Home> {
  const missing = (): Error => notFound('Target Namespace')
  const asked = params.namespace_id ?? params.namespace_path ?? params.namespace
  if (asked === undefined && user.external) throw missing()
  const id = asked === undefined ? undefined : await forks.findNamespace(tx, asked)
  if (asked !== undefined && id === undefined) throw missing()
  const by = id === undefined ? { userId: user.id } : { namespaceId: id }
  const before = await store.findHome(tx, by)
  if (before === undefined) throw missing()
  await lockTree(tx, before.root, 'share')
  const home = await store.findHome(tx, by)
  if (home === undefined) throw missing()
  if (home.kind === 'group') {
    const group = await findGroup(tx, actor, home.id)
    if (group === undefined || !decide(actor, 'create_projects', group, true).allowed) throw missing()
  } else {
    if (home.owner_id !== user.id && !isAdministrator(actor)) throw missing()
    rules.checkLimit(home.projects_limit ?? 0, home.projects)
  }
  if (home.root !== source.line[0] && (await forks.isKeptInside(tx, source.line))) throw missing()
  return home
}

function newFork(
  home: store.Home,
  { actor, user }: { readonly actor: Actor; readonly user: User },
  source: ProjectSubject & forks.Source,
  params: ForkParams,
  { restricted_visibility_levels: restricted }: SettingValues,
): store.NewProject {
  const name = (params.name ?? source.name).trim()
  const path = params.path ?? source.path
  const description = params.description === undefined ? source.description : params.description
  const stored = Object.fromEntries(
    inherited.flatMap((key) => (key in source.settings ? [[key, source.settings[key]]] : [])),
  )
  const settings = {
    ...allSettings(stored),
    mr_default_target_self: params.mr_default_target_self ?? false,
  }
  if (home.settings['shared_runners_setting'] === 'disabled_and_unoverridable') {
    settings.shared_runners_enabled = false
  }
  checkRunners(home, settings.shared_runners_enabled)
  rules.check({ name, path: path === source.path ? undefined : path, description, topics: [], settings })
  return {
    home,
    creatorId: user.id,
    name,
    path,
    description,
    visibility: chooseVisibility(home, source, params.visibility, isAdministrator(actor) ? [] : restricted),
    defaultBranch: params.branches ?? source.defaultBranch ?? 'main',
    settings: storedSettings(settings),
    featureLevels: source.storedLevels,
    topics: [],
    storage: source.storage,
  }
}

/** A fork is never open to more people than its source; unless it was asked for, as open as it may be. */
function chooseVisibility(
  home: store.Home,
  source: ProjectSubject,
  asked: VisibilityName | undefined,
  restricted: readonly string[],
): number {
  if (asked !== undefined) {
    checkBelowSource(Visibility[asked], source.visibility)
    rules.checkVisibility(Visibility[asked], home)
    rules.checkRestricted(Visibility[asked], restricted, false)
    return Visibility[asked]
  }
  const highest = Math.min(source.visibility, home.kind === 'group' ? home.visibility : Visibility.public)
  const levels = [Visibility.public, Visibility.internal, Visibility.private]
  return (
    levels.find((level) => level <= highest && !restricted.includes(visibilityName(level))) ??
    Visibility.private
  )
}

export function checkBelowSource(level: number, sourceLevel: number): void {
  if (level <= sourceLevel) return
  throw invalid({
    visibility_level: [
      `${visibilityName(level)} is not allowed since the fork source project has lower visibility.`,
    ],
  })
}

function alreadyTaken({ name, path }: { name: boolean; path: boolean }): Error {
  const taken = 'has already been taken'
  return refused(409, [...(name ? [`Name ${taken}`] : []), ...(path ? [`Path ${taken}`] : [])])
}

/** The files of the source are linked, not copied, and so this takes no longer than the transaction may. */
async function copy(
  { places, door }: ForkServices,
  tx: Tx,
  fork: { readonly id: number; readonly storage: string; readonly defaultBranch: string },
  source: ProjectSubject,
  only: { readonly ref: string; readonly name: string } | undefined,
): Promise<void> {
  const target = places.of(fork)
  const defaultBranch = branchRef(fork.defaultBranch)!
  if (source.repositoryEmpty) {
    await deleteRepository(target)
    await createRepository(target, { defaultBranch })
    return
  }
  const { branches } = await copyRepository(places.of(source), target, {
    defaultBranch,
    version: source.refsVersion,
    only: only === undefined ? undefined : branchRef(only.name),
  })
  if (branches === 0) return
  await forks.setFilled(tx, fork.id, source.id)
  await door.adopt(tx, fork.id, fork.defaultBranch)
}

/** Says that a project was made from another one, though it was not. */
export async function linkFork(db: Database, fork: ProjectSubject, source: ProjectSubject): Promise<void> {
  if (fork.id === source.id) throw refused(409, 'Target project cannot be equal to source project')
  await db.transaction(async (tx) => {
    // In the order of their ids, so that two who link in both directions do not wait for one another.
    const rows = await forks.lockAll(tx, [fork.id, source.id])
    const [one, other] = [rows.get(fork.id), rows.get(source.id)]
    if (one === undefined || other === undefined) throw notFound('Project')
    if (one.forked_from_id !== null) throw refused(409, 'Project already forked')
    if ((other.fork_network ?? other.id) === (one.fork_network ?? one.id)) {
      throw refused(409, 'Source project is a fork of the target project')
    }
    checkBelowSource(one.visibility, other.visibility)
    await forks.link(tx, fork.id, source.id, { copied: false })
  })
}

/** Ends the tie of a fork to its source: what was made from the fork stays with it. Tells whether there was a tie. */
export async function unlinkFork(db: Database, id: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const row = (await forks.lockAll(tx, [id])).get(id)
    if (row === undefined || row.forked_from_id === null) return false
    await forks.unlink(tx, id)
    return true
  })
}

/** Ends the ties of those forks that are open to more people than this project from now on. */
export async function unlinkOpenForks(tx: Tx, id: number, visibility: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select p.id from projects p where p.forked_from_id = ${id} and p.visibility > ${visibility} order by p.id for update`.execute(
    tx,
  )
  for (const fork of rows) await forks.unlink(tx, fork.id)
}
