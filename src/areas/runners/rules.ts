import { invalid, unprocessable } from '../../kernel/errors/index.ts'
import {
  Fields,
  Flag,
  Hash,
  Int,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
} from '../../kernel/endpoint/index.ts'
import type { RunnerSubject } from '../../access/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { RunnerValues } from './store.ts'

const shortestTimeout = 600
const longestNote = 1024

/** What a runner tells of itself. */
export const RunnerInfo = Fields({
  name: Optional(Nullable(Text())),
  version: Optional(Nullable(Text())),
  revision: Optional(Nullable(Text())),
  platform: Optional(Nullable(Text())),
  architecture: Optional(Nullable(Text())),
  executor: Optional(Nullable(Text())),
  shell: Optional(Nullable(Text())),
  features: Optional(Nullable(Hash(Nullable(Flag())))),
  config: Optional(Json()),
  labels: Optional(Json()),
})

/** A runner of projects that has none left has nobody to work for. */
export function requireProject({ runnerType }: RunnerSubject, projects: readonly number[]): void {
  if (runnerType === 'project_type' && projects.length === 0) {
    throw unprocessable('422 Unprocessable Entity - Runner is orphaned')
  }
}

/** What can be set of a runner. */
export const runnerParams = {
  description: Optional(Text()),
  paused: Optional(Flag()),
  active: Optional(Flag({ deprecated: true })),
  locked: Optional(Flag()),
  access_level: Optional(OneOf('not_protected', 'ref_protected')),
  run_untagged: Optional(Flag()),
  tag_list: Optional(ListOf(Text(), { commaSeparated: true })),
  maximum_timeout: Optional(Nullable(Int({ maximum: 2_147_483_647, description: 'Seconds, at least 600' }))),
  maintenance_note: Optional(Text({ maxLength: longestNote })),
  maintainer_note: Optional(Text({ deprecated: true })),
}

export interface RunnerInput {
  readonly description?: string | undefined
  readonly paused?: boolean | undefined
  readonly active?: boolean | undefined
  readonly locked?: boolean | undefined
  readonly access_level?: 'not_protected' | 'ref_protected' | undefined
  readonly run_untagged?: boolean | undefined
  readonly tag_list?: readonly string[] | undefined
  readonly maximum_timeout?: number | null | undefined
  readonly maintenance_note?: string | undefined
  readonly maintainer_note?: string | undefined
}

const fresh: RunnerValues = {
  description: null,
  paused: false,
  locked: false,
  run_untagged: true,
  tag_list: [],
  access_level: 'not_protected',
  maximum_timeout: null,
  maintenance_note: null,
}

/** What a runner will be with this input; refuses what no runner can be (completions, 8.1). */
export function runnerValues(input: RunnerInput, before: RunnerValues = fresh): RunnerValues {
  const values: RunnerValues = {
    description: input.description ?? before.description,
    paused: input.paused ?? (input.active === undefined ? before.paused : !input.active),
    locked: input.locked ?? before.locked,
    run_untagged: input.run_untagged ?? before.run_untagged,
    tag_list: input.tag_list === undefined ? before.tag_list : [...new Set(input.tag_list)],
    access_level: input.access_level ?? before.access_level,
    maximum_timeout: input.maximum_timeout === undefined ? before.maximum_timeout : input.maximum_timeout,
    maintenance_note: input.maintenance_note ?? input.maintainer_note ?? before.maintenance_note,
  }
  const faults: Record<string, string[]> = {}
  if (values.maximum_timeout !== null && values.maximum_timeout < shortestTimeout) {
    faults['maximum_timeout'] = ['needs to be at least 10 minutes']
  }
  if ((values.maintenance_note?.length ?? 0) > longestNote) {
    faults['maintenance_note'] = [`is too long (maximum is ${longestNote} characters)`]
  }
  if (values.tag_list.length > 50)
    faults['tags_list'] = ['Too many tags specified. Please limit the number of tags to 50']
  if (!values.run_untagged && values.tag_list.length === 0) {
    faults['tags_list'] = ['can not be empty when runner is not allowed to pick untagged jobs']
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return values
}

/** When a token made now for such a runner ends; null: never. */
export function expiryOf(
  type: 'instance_type' | 'group_type' | 'project_type',
  settings: Pick<SettingValues, ExpirySetting>,
  now: Date,
): Date | null {
  const seconds = settings[expirySettings[type]]
  return seconds === null ? null : new Date(now.getTime() + seconds * 1000)
}

const expirySettings = {
  instance_type: 'runner_token_expiration_interval',
  group_type: 'group_runner_token_expiration_interval',
  project_type: 'project_runner_token_expiration_interval',
} as const
type ExpirySetting = (typeof expirySettings)[keyof typeof expirySettings]
