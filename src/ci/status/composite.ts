import type { Status } from '../types.ts'

/** A job, as far as it counts for the whole. */
export interface StatusPart {
  status: Status
  allowFailure: boolean
}

/** How a job counts among others: failures that are allowed only warn, optional manual jobs do not count. */
type Counted = Status | 'warn' | 'ignored'

function counted({ status, allowFailure }: StatusPart): Counted {
  if (!allowFailure) return status
  if (status === 'failed' || status === 'canceled') return 'warn'
  return status === 'manual' ? 'ignored' : status
}

/** The first row that fits decides: either all parts are among `only`, or some part is among `any`. */
const rows: [test: { only: readonly Counted[] } | { any: readonly Counted[] }, result: Status][] = [
  [{ only: ['skipped', 'ignored'] }, 'skipped'],
  [{ only: ['success', 'skipped', 'warn', 'ignored'] }, 'success'],
  [{ only: ['created', 'warn', 'ignored'] }, 'created'],
  [{ only: ['preparing', 'warn', 'ignored'] }, 'preparing'],
  [{ only: ['canceled', 'success', 'skipped', 'warn', 'ignored'] }, 'canceled'],
  [{ only: ['pending', 'created', 'skipped', 'warn', 'ignored'] }, 'pending'],
  [{ any: ['running', 'pending'] }, 'running'],
  [{ any: ['waiting_for_resource'] }, 'waiting_for_resource'],
  [{ any: ['waiting_for_callback'] }, 'waiting_for_callback'],
  [{ any: ['manual'] }, 'manual'],
  [{ any: ['scheduled'] }, 'scheduled'],
  [{ any: ['preparing'] }, 'preparing'],
  [{ any: ['created'] }, 'running'],
  [{ any: ['canceling'] }, 'canceling'],
]

/**
 * The status of a pipeline or stage from its latest jobs. With `asNeeds`, of a list of needs: there one that did not
 * run at all makes the whole skipped.
 */
export function compositeStatus(jobs: readonly StatusPart[], { asNeeds = false } = {}): Status {
  if (jobs.length === 0) return 'success'
  const present = new Set(jobs.map(counted))
  if (asNeeds && (present.has('skipped') || present.has('ignored'))) return 'skipped'
  const fits = (test: (typeof rows)[number][0]) =>
    'only' in test
      ? [...present].every((one) => test.only.includes(one))
      : test.any.some((one) => present.has(one))
  return rows.find(([test]) => fits(test))?.[1] ?? 'failed'
}

/** Whether a `success` came with failures that were allowed. */
export function hasWarnings(jobs: readonly StatusPart[]): boolean {
  return jobs.some((job) => counted(job) === 'warn')
}
