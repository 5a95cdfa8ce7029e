import {
  Fields,
  Flag,
  Id,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { PipelineReference, pipelineSummary, type PipelineSummaryRow } from '../pipelines/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'

const summary = {
  id: Id(),
  description: Text(),
  ref: Text(),
  cron: Text(),
  cron_timezone: Text(),
  next_run_at: Nullable(Timestamp()),
  active: Flag(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  owner: Nullable(BasicUser),
}

export const ScheduleVariable = Fields({
  variable_type: OneOf('env_var', 'file'),
  key: Text(),
  value: Text(),
  raw: Flag(),
})

export const ScheduleSummary = Fields(summary)
export const Schedule = Fields({
  ...summary,
  last_pipeline: Nullable(PipelineReference),
  variables: ListOf(ScheduleVariable, { description: 'For the owner and Maintainers; empty for others' }),
  inputs: Optional(ListOf(Fields({ name: Text(), value: Json() }))),
})

export interface VariableRow {
  readonly key: string
  readonly secret: string
  readonly variable_type: 'env_var' | 'file'
  readonly raw: boolean
}

export interface ScheduleSummaryRow {
  readonly id: number
  readonly description: string
  readonly ref: string
  readonly cron: string
  readonly cron_timezone: string
  readonly next_run_at: string | null
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly owner: BasicUserRow | null
}

export interface ScheduleRow extends ScheduleSummaryRow {
  readonly last_pipeline: PipelineSummaryRow | null
  readonly variables: readonly VariableRow[]
  readonly inputs: Readonly<Record<string, unknown>>
}

/** The place the values of variables are sealed for. */
export const secretContext = 'ci_pipeline_schedule_variables.secret'

export function scheduleSummary(row: ScheduleSummaryRow, externalUrl: string): Record<string, unknown> {
  return { ...row, owner: row.owner === null ? null : basicUser(row.owner, externalUrl) }
}

export function schedule(
  row: ScheduleRow,
  {
    project,
    externalUrl,
    cipher,
    showsVariables,
    showsInputs,
  }: {
    readonly project: { readonly fullPath: string }
    readonly externalUrl: string
    readonly cipher: Cipher
    readonly showsVariables: boolean
    /** The instance has inputs of pipelines. */
    readonly showsInputs: boolean
  },
): Record<string, unknown> {
  return {
    ...scheduleSummary(row, externalUrl),
    last_pipeline: row.last_pipeline && pipelineSummary(row.last_pipeline, project, externalUrl),
    variables: showsVariables ? row.variables.map((one) => scheduleVariable(one, cipher)) : [],
    inputs: showsInputs ? Object.entries(row.inputs).map(([name, value]) => ({ name, value })) : undefined,
  }
}

export function scheduleVariable({ secret, ...rest }: VariableRow, cipher: Cipher): Record<string, unknown> {
  return { ...rest, value: cipher.open(secret, secretContext) }
}
