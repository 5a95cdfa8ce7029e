import type { Status } from '../types.ts'

/** Every status, in the order of a job's life. */
export const statuses = [
  'created',
  'waiting_for_resource',
  'waiting_for_callback',
  'preparing',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const satisfies readonly Status[]

/** Something is going on, or will without anybody's help. */
export const alive = [
  'created',
  'waiting_for_resource',
  'waiting_for_callback',
  'preparing',
  'pending',
  'running',
] as const satisfies readonly Status[]

/** No runner has seen it yet; parked jobs included. */
export const notStarted = [
  'created',
  'waiting_for_resource',
  'waiting_for_callback',
  'preparing',
  'pending',
  'manual',
  'scheduled',
] as const satisfies readonly Status[]

/** `cancel` does something. */
export const cancelable = [...alive, 'manual', 'scheduled'] as const satisfies readonly Status[]
/** Over. A pipeline or job in one of these may only be started anew. */
export const completed = ['success', 'failed', 'canceled', 'skipped'] as const satisfies readonly Status[]
/** Waits for a person. */
export const blocked = ['manual'] as const satisfies readonly Status[]
/** Nothing moves any more unless somebody acts. */
export const stopped = [...completed, ...blocked] as const satisfies readonly Status[]

// The same as questions.
export const isAlive = within(alive)
export const isNotStarted = within(notStarted)
export const isCancelable = within(cancelable)
export const isCompleted = within(completed)
export const isStopped = within(stopped)

/** What answers and hooks say about a pipeline: they know eleven statuses. */
export function reportedPipelineStatus(status: Status): Status {
  return status === 'canceling' ? 'running' : status
}

function within(group: readonly Status[]): (status: Status) => boolean {
  const set = new Set(group)
  return (status) => set.has(status)
}
