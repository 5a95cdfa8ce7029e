import {
  Fields,
  Flag,
  Int,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { BatchStatus, StatusRow } from './store.ts'

/** As numbers; a file that waits for its turn is not begun yet. */
const numbers = { created: 2, started: 0, finished: 1, failed: -1 } as const

export const RelationStatus = Fields({
  relation: Text(),
  status: Int({ description: '0 started, 1 finished, -1 failed' }),
  error: Nullable(Text()),
  updated_at: Timestamp(),
  batched: Flag(),
  batches_count: Int(),
  total_objects_count: Int(),
  batches: Optional(
    ListOf(
      Fields({
        status: Int({ description: '2 waits, 0 started, 1 finished, -1 failed' }),
        batch_number: Int(),
        objects_count: Int(),
        error: Nullable(Text()),
        updated_at: Timestamp(),
      }),
    ),
  ),
})

function stateOf(batches: readonly BatchStatus[]): keyof typeof numbers {
  if (batches.some(({ state }) => state === 'failed')) return 'failed'
  return batches.every(({ state }) => state === 'finished') ? 'finished' : 'started'
}

export function relationStatus({ relation, batched, batches }: StatusRow) {
  return {
    relation,
    status: numbers[stateOf(batches)],
    error: batches.find(({ error }) => error !== null)?.error ?? null,
    updated_at: batches
      .map(({ updated_at: at }) => at)
      .toSorted()
      .at(-1)!,
    batched,
    batches_count: batched ? batches.length : 0,
    total_objects_count: batches.reduce((sum, { objects_count: count }) => sum + count, 0),
    ...(batched && {
      batches: batches.map(({ state, ...batch }) => ({ status: numbers[state], ...batch })),
    }),
  }
}
