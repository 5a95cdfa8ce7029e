import { sql, type Tx } from '../../kernel/db/index.ts'
import { conflict } from '../../kernel/errors/index.ts'
import { lockTree } from '../namespaces/index.ts'
import type { UserRow } from './entities.ts'
import { leaveToGhost, removeWorks } from './ghost.ts'
import type { UserServices } from './services.ts'
import * as store from './store.ts'

export type RemovalServices = Pick<UserServices, 'beforeRemoval' | 'removeNotes'>

/**
 * Removes a user with tokens, memberships and personal namespace. What he did elsewhere is left to the ghost; `hard`:
 * it goes too, and the groups that only he owns. 409 for the only owner of a group otherwise, 403 for the last
 * administrator.
 */
export async function removeUser(
  tx: Tx,
  user: UserRow,
  { beforeRemoval, removeNotes }: RemovalServices,
  { hard }: { hard: boolean } = { hard: false },
): Promise<void> {
  const alone = await store.ownedAlone(tx, user.id)
  if (alone.length > 0 && !hard) throw conflict('User cannot be removed while is the sole-owner of a group')
  // The outer ones first: what lies in them goes with them.
  for (const id of alone) await removeNamespace(tx, id, beforeRemoval)
  if (user.namespace_id !== null) await removeNamespace(tx, user.namespace_id, beforeRemoval)
  if (hard) {
    await removeNotes(tx, user.id)
    await removeWorks(tx, user.id)
  } else await leaveToGhost(tx, user.id)
  await store.remove(tx, user.id)
  if (user.admin) await store.requireAdministrator(tx)
}

/** The same by the id, where the account still is there. */
export async function removeUserById(
  tx: Tx,
  id: number,
  services: RemovalServices,
  how: { readonly hard: boolean },
): Promise<void> {
  const user = await store.lock(tx, id)
  if (user !== undefined) await removeUser(tx, user, services, how)
}

async function removeNamespace(
  tx: Tx,
  id: number,
  beforeRemoval: RemovalServices['beforeRemoval'],
): Promise<void> {
  const { rows } = await sql<{ root: number }>`
    select n.traversal_ids[1] as root from namespaces n where n.id = ${id}`.execute(tx)
  const root = rows[0]?.root
  if (root === undefined) return
  await lockTree(tx, root, 'update')
  await beforeRemoval(tx, id)
  await tx.deleteFrom('namespaces').where('namespaces.id', '=', id).execute()
}
