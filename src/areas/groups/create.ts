import {
  decide,
  findGroup,
  isAdministrator,
  isMoreThanGuest,
  userOf,
  type Actor,
  type GroupSubject,
  type VisibilityName,
} from '../../access/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import { claimPath, isTaken, lockTree, pathFault } from '../namespaces/index.ts'
import * as rules from './rules.ts'
import { changeSettings, withoutProtection, type GroupSettings } from './settings.ts'
import * as store from './store.ts'

/** What a request says of a new group; settings stand beside these under their own names. */
export interface CreateParams {
  readonly name: string
  readonly path: string
  readonly parent_id?: number | undefined
  readonly description?: string | null | undefined
  readonly visibility?: VisibilityName | undefined
}

/** A group with its path, below a parent or at the top, owned by its creator, and what `then` makes of it: all or nothing. */
export async function createGroup(
  { db, settings }: { db: Database; settings: SettingValues },
  actor: Actor,
  params: CreateParams,
  then?: (tx: Tx, id: number) => Promise<void>,
): Promise<number> {
  return db.transaction(async (tx) => {
    const parent = params.parent_id === undefined ? undefined : await lockParent(tx, actor, params.parent_id)
    if (parent === undefined) {
      if (!decide(actor, 'create_group', { kind: 'instance' }).allowed) throw forbidden()
      await checkGuest(tx, actor, settings)
    } else if (!decide(actor, 'create_subgroup', parent, true).allowed) throw forbidden()

    const free = settings.group_owners_can_manage_default_branch_protection || isAdministrator(actor)
    const asked = free ? params : withoutProtection(params)
    const stored = changeSettings(
      { ...inherited(parent), ...starting(settings) },
      asked as unknown as Readonly<Record<string, unknown>>,
    )
    const visibility = rules.chooseVisibility(params.visibility, settings.default_group_visibility, parent)
    const path = params.path.trim()
    const faults = rules.faultsOf({
      name: params.name.trim(),
      path,
      description: params.description ?? null,
      subgroup: parent !== undefined,
      defaultBranch: stored.default_branch,
    })
    const levelFaults = [
      ...rules.visibilityFaults(visibility, { parent: parent?.visibility, groupsBelow: 0, projectsBelow: 0 }),
      ...(params.visibility === undefined
        ? []
        : rules.restrictionFaults(visibility, settings.restricted_visibility_levels, isAdministrator(actor))),
    ]
    if (levelFaults.length > 0) faults['visibility_level'] = levelFaults
    if (parent !== undefined && parent.line.length >= rules.deepest) {
      faults['parent_id'] = ['has too deep level of nesting']
    }
    const fullPath = parent === undefined ? path : `${parent.fullPath}/${path}`
    if (faults['path'] === undefined && (await isTaken(tx, fullPath))) faults['path'] = [rules.taken]
    rules.refuseCreation(faults)

    const id = await store.insert(tx, {
      parent,
      name: params.name.trim(),
      path,
      description: params.description ?? '',
      visibility,
      settings: stored,
      creatorId: userOf(actor).id,
    })
    await claimPath(tx, fullPath, { namespaceId: id }).catch((error: unknown) => {
      const fault = pathFault(error)
      throw fault === undefined ? error : rules.creationRefused({ path: [fault] })
    })
    await then?.(tx, id)
    return id
  })
}

/** The parent, its tree held still; 404 where the caller may not know of it. */
async function lockParent(tx: Tx, actor: Actor, id: number): Promise<GroupSubject> {
  const before = await findGroup(tx, actor, id)
  if (before === undefined) throw notFound('Group')
  await lockTree(tx, before.line[0]!, 'share')
  return (await findGroup(tx, actor, id)) ?? Promise.reject(notFound('Group'))
}

const creationLevels = ['noone', 'maintainer', 'developer', 'administrator', 'owner'] as const

/** What the instance lets groups begin with. */
function starting({ default_project_creation: level }: SettingValues): Partial<GroupSettings> {
  return { project_creation_level: creationLevels[level] }
}

/** The instance may keep those who are guests at most from making groups and projects of their own. */
async function checkGuest(tx: Tx, actor: Actor, settings: SettingValues): Promise<void> {
  if (settings.allow_project_creation_for_guest_and_below || isAdministrator(actor)) return
  if (!(await isMoreThanGuest(tx, userOf(actor).id))) throw forbidden()
}

/** What a subgroup takes over from its parent. */
function inherited(parent: GroupSubject | undefined): Readonly<Record<string, unknown>> {
  const runners = parent?.settings['shared_runners_setting']
  return runners === undefined ? {} : { shared_runners_setting: runners }
}
