import type { Tx } from '../../kernel/db/index.ts'
import * as store from './store.ts'
import { tellEachOther } from './system-notes.ts'

/** Keeps of which issue another one, which is closed, is a duplicate; each tells of the other. */
export async function markAsDuplicate(
  tx: Tx,
  userId: number,
  { id, of }: { readonly id: number; readonly of: number },
): Promise<void> {
  await store.update(tx, id, { duplicated_to_id: of })
  await tellEachOther(tx, userId, [id, of], (own, other) => ({
    action: 'duplicate',
    body:
      own === id
        ? `marked this issue as a duplicate of ${other}`
        : `marked ${other} as a duplicate of this issue`,
  }))
}
