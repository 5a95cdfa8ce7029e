import type { Status } from '../types.ts'
import { alive, cancelable } from './groups.ts'

/** What can happen to a job. The facts that decide where it leads come with it. */
export type JobEvent =
  | { type: 'process' | 'prepared' | 'run' | 'actionize' | 'schedule' | 'unschedule' | 'skip' }
  | { type: 'success' | 'drop' | 'force_cancel' }
  /** Also when the timer of a delayed job fires. */
  | { type: 'enqueue'; resourceGroup?: boolean; unmetPrerequisites?: boolean }
  | { type: 'resource_granted'; unmetPrerequisites?: boolean }
  /** Only a runner that can stop gracefully is told to; else the job is canceled at once. */
  | { type: 'cancel'; graceful?: boolean }

interface Transition {
  from: readonly Status[]
  to: Status | ((event: Facts, from: Status) => Status)
}
interface Facts {
  type: JobEvent['type']
  resourceGroup?: boolean
  unmetPrerequisites?: boolean
  graceful?: boolean
}

const beforeRunner = ({ unmetPrerequisites }: Facts): Status => (unmetPrerequisites ? 'preparing' : 'pending')

/** Which status may follow which. `success`, `failed` and `canceled` have no way out: a retry is a new job. */
const transitions: Record<JobEvent['type'], Transition> = {
  process: { from: ['skipped', 'manual'], to: 'created' },
  enqueue: {
    from: ['created', 'skipped', 'manual', 'scheduled'],
    to: (facts) => (facts.resourceGroup ? 'waiting_for_resource' : beforeRunner(facts)),
  },
  resource_granted: { from: ['waiting_for_resource'], to: beforeRunner },
  prepared: { from: ['preparing'], to: 'pending' },
  run: { from: ['pending'], to: 'running' },
  actionize: { from: ['created'], to: 'manual' },
  schedule: { from: ['created'], to: 'scheduled' },
  unschedule: { from: ['scheduled'], to: 'manual' },
  skip: { from: ['created', 'waiting_for_resource', 'preparing', 'pending'], to: 'skipped' },
  success: {
    from: [...alive, 'canceling'],
    to: (_, from) => (from === 'canceling' ? 'canceled' : 'success'),
  },
  drop: {
    from: [...cancelable, 'canceling'],
    to: (_, from) => (from === 'canceling' ? 'canceled' : 'failed'),
  },
  cancel: {
    from: cancelable,
    to: ({ graceful }, from) => (from === 'running' && graceful ? 'canceling' : 'canceled'),
  },
  force_cancel: { from: ['canceling'], to: 'canceled' },
}

/** The status after an event; null when the event cannot happen to a job in this status. */
export function next(status: Status, event: JobEvent): Status | null {
  const { from, to } = transitions[event.type]
  if (!from.includes(status)) return null
  return typeof to === 'string' ? to : to(event, status)
}

/** Whether a job can be run once more, as a new one; it must be the latest of its name, too. */
export function isRetryable(status: Status): boolean {
  return ['success', 'failed', 'canceled', 'canceling'].includes(status)
}

/** Whether `play` does something; skipped jobs only where they were actions (`when: manual` or `delayed`). */
export function isPlayable({ status, when }: { status: Status; when: string }): boolean {
  if (status === 'manual' || status === 'scheduled') return true
  return status === 'skipped' && (when === 'manual' || when === 'delayed')
}
