import { Fields, Flag, Id, Nullable, OneOf, Text, Timestamp } from '../../kernel/endpoint/index.ts'

const states = ['online', 'offline', 'stale', 'never_contacted'] as const
export type RunnerState = (typeof states)[number]

/** Milliseconds since the last contact: until then online, after it stale. */
export const onlineFor = 2 * 3600_000
export const staleAfter = 7 * 86_400_000

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const

export const runnerFields = {
  id: Id(),
  description: Nullable(Text()),
  ip_address: Nullable(Text()),
  active: Flag({ deprecated: true }),
  paused: Flag(),
  is_shared: Flag(),
  runner_type: OneOf(...runnerTypes),
  name: Nullable(Text()),
  online: Nullable(Flag()),
  status: OneOf(...states),
}

/** A runner inside other things, such as a job. */
export const RunnerReference = Fields(runnerFields)

export const RunnerManager = Fields({
  id: Id(),
  system_id: Text(),
  version: Nullable(Text()),
  revision: Nullable(Text()),
  platform: Nullable(Text()),
  architecture: Nullable(Text()),
  created_at: Timestamp(),
  contacted_at: Nullable(Timestamp()),
  ip_address: Nullable(Text()),
  status: OneOf(...states),
})

export interface RunnerRow {
  readonly id: number
  readonly description: string | null
  readonly paused: boolean
  readonly runner_type: (typeof runnerTypes)[number]
  readonly name: string | null
  readonly contacted_at: string | null
  readonly created_at: string
}

export interface RunnerManagerRow {
  readonly id: number
  readonly system_id: string
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly created_at: string
  readonly contacted_at: string | null
  readonly ip_address: string | null
}

/** A runner that was never heard of counts as such for a week, then as stale. */
export function runnerState(
  row: { contacted_at: string | null; created_at: string },
  now: Date,
): RunnerState {
  const age = now.getTime() - Date.parse(row.contacted_at ?? row.created_at)
  if (age > staleAfter) return 'stale'
  if (row.contacted_at === null) return 'never_contacted'
  return age > onlineFor ? 'offline' : 'online'
}

export function runnerReference(row: RunnerRow, now: Date): Record<string, unknown> & { id: number } {
  const status = runnerState(row, now)
  return {
    ...row,
    ip_address: null,
    active: !row.paused,
    is_shared: row.runner_type === 'instance_type',
    online: row.contacted_at === null ? null : status === 'online',
    status,
  }
}

export function runnerManager(row: RunnerManagerRow, now: Date): RunnerManagerRow & { status: RunnerState } {
  return { ...row, status: runnerState(row, now) }
}
