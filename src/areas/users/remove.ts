import type { Tx } from '../../kernel/db/index.ts'
import { lockTree } from '../namespaces/index.ts'
import type { UserRow } from './entities.ts'
import * as store from './store.ts'

/** As `removeUser`, where there still is one with this id. */
export async function removeUserById(
  tx: Tx,
  id: number,
  beforeRemoval: (tx: Tx, namespaceId: number) => Promise<void>,
): Promise<void> {
  const user = await store.lock(tx, id)
  if (user !== undefined) await removeUser(tx, user, beforeRemoval)
}

/** Removes a user with tokens, memberships and personal namespace. What he did elsewhere stays, without a name. */
export async function removeUser(
  tx: Tx,
  user: UserRow,
  beforeRemoval: (tx: Tx, namespaceId: number) => Promise<void>,
): Promise<void> {
  if (user.namespace_id !== null) {
    await lockTree(tx, user.namespace_id, 'update')
    await beforeRemoval(tx, user.namespace_id)
  }
  await store.remove(tx, user.id)
}
