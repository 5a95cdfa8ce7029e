import { decide, findGroup, type Actor, type GroupSubject } from '../../access/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import type { Events } from '../../tasks/index.ts'
import { lockTrees, moveNamespace, pathFault } from '../namespaces/index.ts'
import { deepest } from './rules.ts'
import * as store from './store.ts'

export interface TransferServices {
  readonly db: Database
  readonly events: Events
}

/** The news that a group lies below another one, or at the top: event kind `group_transferred`. */
export interface GroupTransferred {
  readonly groupId: number
  readonly oldParentId: number | null
  readonly newParentId: number | null
  readonly oldFullPath: string
}

/**
 * Puts a group with all that lies below it under another one, or at the top. Nothing below may be open to more people
 * than the new parent; what is gets its level. Members of the groups that were above have no access any more.
 */
export async function transferGroup(
  { db, events }: TransferServices,
  actor: Actor,
  group: GroupSubject,
  parentId: number | undefined,
): Promise<void> {
  const wanted = parentId === undefined ? undefined : await findGroup(db.reader, actor, parentId)
  if (parentId !== undefined && wanted === undefined) throw notFound('Group')
  await db.transaction(async (tx) => {
    await lockTrees(tx, [group.line[0]!, ...(wanted === undefined ? [] : [wanted.line[0]!])], 'update')
    const before = await store.lock(tx, group.id)
    if (before === undefined) throw notFound('Group')
    const parent = parentId === undefined ? undefined : await lockedParent(tx, actor, parentId)
    await check(tx, actor, before, parent)
    await moveNamespace(tx, group.id, parent?.id ?? null).catch((error: unknown) => {
      const fault = pathFault(error)
      throw fault === undefined ? error : failed(inTheWay)
    })
    if (parent !== undefined) await store.lowerVisibility(tx, group.id, parent.visibility)
    if (parent?.settings['shared_runners_setting'] === 'disabled_and_unoverridable') {
      await store.closeRunners(tx, group.id)
    }
    const payload: GroupTransferred = {
      groupId: group.id,
      oldParentId: before.parent_id,
      newParentId: parent?.id ?? null,
      oldFullPath: group.fullPath,
    }
    await events.announce(tx, 'group_transferred', { userId: actor.user?.id ?? null, payload })
  })
}

async function lockedParent(tx: Tx, actor: Actor, id: number): Promise<GroupSubject> {
  return (await findGroup(tx, actor, id)) ?? Promise.reject(notFound('Group'))
}

const inTheWay = 'The parent group already has a subgroup or a project with the same path.'

async function check(
  tx: Tx,
  actor: Actor,
  group: store.LockedGroup,
  parent: GroupSubject | undefined,
): Promise<void> {
  if (parent === undefined) {
    if (group.parent_id === null) throw failed('Group is already a root group.')
    if (!decide(actor, 'create_group', { kind: 'instance' }).allowed) throw failed(noPermission)
    return
  }
  if (parent.line.includes(group.id)) throw failed('Cannot transfer group to one of its subgroup.')
  if (parent.id === group.parent_id) throw failed('Group is already associated to the parent group.')
  if (!decide(actor, 'create_subgroup', parent, true).allowed) throw failed(noPermission)
  const height = await store.heightOf(tx, group.id)
  if (parent.line.length + height > deepest) throw failed('Parent has too deep level of nesting')
}

const noPermission = "You don't have enough permissions."

function failed(text: string): Error {
  return refused(400, `Transfer failed: ${text}`)
}
