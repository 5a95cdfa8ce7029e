import type { Tx } from '../../kernel/db/index.ts'
import { enqueue } from '../../tasks/index.ts'

/** When a mirror or an import is to be looked after. */
export interface Due {
  readonly id: number
  readonly due_at: Date
}

/**
 * A task that looks for what is due, in time. In the transaction that says when: else what is due later could take the place
 * of what is due now.
 */
export async function enqueueDue(tx: Tx, task: string, { id, due_at }: Due): Promise<void> {
  await enqueue(tx, task, {}, { runAt: new Date(due_at), key: `${task}:${id}` })
}
