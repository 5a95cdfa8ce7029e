import { Fields, Id, Nullable, Optional, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { Job, type JobRow } from '../jobs/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../users/index.ts'

const basics = {
  id: Id(),
  name: Text(),
  slug: Text(),
  external_url: Nullable(Text()),
  created_at: Timestamp(),
  updated_at: Timestamp(),
}

export const BasicEnvironment = Fields(basics)

export const Deployment = Fields({
  id: Id(),
  iid: Id({ description: 'Number within the project' }),
  ref: Text(),
  sha: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  user: Nullable(BasicUser),
  environment: BasicEnvironment,
  deployable: Nullable(Job),
  status: Text({ description: 'created, running, success, failed, canceled, skipped or blocked' }),
})

export const Environment = Fields({
  ...basics,
  tier: Text({ description: 'production, staging, testing, development or other' }),
  state: Text({ description: 'available, stopping or stopped' }),
  auto_stop_at: Nullable(Timestamp()),
  auto_stop_setting: Text({ description: '`with_action`: only where a job of its own stops it' }),
  description: Nullable(Text()),
  last_deployment: Optional(Nullable(Deployment)),
})

export interface BasicEnvironmentRow {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly external_url: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface EnvironmentRow extends BasicEnvironmentRow {
  readonly project_id: number
  readonly tier: string
  readonly state: 'available' | 'stopping' | 'stopped'
  readonly auto_stop_at: string | null
  readonly auto_stop_setting: string
  readonly description: string | null
}

export interface DeploymentRow {
  readonly id: number
  readonly iid: number
  readonly ref: string
  readonly sha: string
  readonly created_at: string
  readonly updated_at: string
  readonly by_job: boolean
  readonly status: string
  readonly user: BasicUserRow | null
  readonly environment: BasicEnvironmentRow
  readonly deployable: JobRow | null
}

/** `deployable`: the job as it is shown, if it is still there. */
export function deployment(
  row: DeploymentRow,
  deployable: Record<string, unknown> | null,
  externalUrl: string,
): Record<string, unknown> {
  return { ...row, user: row.user === null ? null : basicUser(row.user, externalUrl), deployable }
}
