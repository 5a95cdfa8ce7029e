import {
  isAdministrator,
  Visibility,
  type Actor,
  type GroupSubject,
  type VisibilityName,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { addresses, type SettingValues } from '../../settings/index.ts'
import { lockTree, pathFault, renameNamespace } from '../namespaces/index.ts'
import * as rules from './rules.ts'
import { changeSettings, withoutProtection } from './settings.ts'
import * as store from './store.ts'

/** What a request changes; settings stand beside these under their own names. */
export interface UpdateParams {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | null | undefined
  readonly visibility?: VisibilityName | undefined
}

/** Changes a group, and with its path those of all that lies below: all that was asked for or nothing. */
export async function updateGroup(
  { db, settings }: { db: Database; settings: SettingValues },
  actor: Actor,
  { id, line }: GroupSubject,
  params: UpdateParams,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTree(tx, line[0]!, 'update')
    const before = await store.lock(tx, id)
    if (before === undefined) throw notFound('Group')
    const free = settings.group_owners_can_manage_default_branch_protection || isAdministrator(actor)
    const asked = free ? params : withoutProtection(params)
    const after = {
      name: params.name?.trim() ?? before.name,
      description: params.description === undefined ? before.description : (params.description ?? ''),
      visibility: params.visibility === undefined ? before.visibility : Visibility[params.visibility],
      settings: changeSettings(before.settings, asked as Readonly<Record<string, unknown>>),
    }
    const path = params.path?.trim() ?? before.path
    const faults = rules.faultsOf({
      name: after.name,
      path: path === before.path ? undefined : path,
      description: after.description,
      subgroup: before.parent_id !== null,
      defaultBranch: after.settings.default_branch,
    })
    const addressFault = addresses(after.settings.ip_restriction_ranges ?? '')
    if (addressFault !== undefined) faults['ip_restriction_ranges'] = [addressFault]
    if (after.visibility !== before.visibility) {
      const texts = [
        ...rules.visibilityFaults(after.visibility, {
          parent: before.parent_visibility ?? undefined,
          groupsBelow: before.groups_below,
          projectsBelow: before.projects_below,
        }),
        ...rules.restrictionFaults(
          after.visibility,
          settings.restricted_visibility_levels,
          isAdministrator(actor),
        ),
      ]
      if (texts.length > 0) faults['visibility_level'] = texts
    }
    rules.refuseUpdate(faults)
    await store.change(tx, id, after)
    if (path !== before.path) {
      await renameNamespace(tx, id, path).catch((error: unknown) => {
        const fault = pathFault(error)
        throw fault === undefined ? error : invalid({ path: [fault] })
      })
    }
    const closed = 'disabled_and_unoverridable'
    if (
      after.settings.shared_runners_setting === closed &&
      before.settings.shared_runners_setting !== closed
    ) {
      await store.closeRunnersBelow(tx, id)
    }
  })
}
