import { Fields, Id, Int, ListOf, Nullable, Optional, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { Job, type JobRow } from '../jobs/index.ts'
import { levelDescription, type ApprovalRuleRow } from '../protected-environments/index.ts'
import { BasicProject, type OwnProjectRow } from '../projects/index.ts'
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

export const Approval = Fields({
  user: Nullable(BasicUser),
  status: Text({ description: 'approved or rejected' }),
  created_at: Timestamp(),
  comment: Nullable(Text()),
})

const approvals = {
  pending_approval_count: Optional(Int()),
  approvals: Optional(ListOf(Approval)),
  approval_summary: Optional(
    Fields({
      rules: ListOf(
        Fields({
          user_id: Nullable(Id()),
          group_id: Nullable(Id()),
          access_level: Nullable(Int()),
          access_level_description: Text(),
          required_approvals: Int(),
          deployment_approvals: ListOf(Approval),
        }),
      ),
    }),
  ),
}

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
export const DeploymentDetail = Fields({ ...Deployment.properties, ...approvals })

export const Environment = Fields({
  ...basics,
  tier: Text({ description: 'production, staging, testing, development or other' }),
  state: Text({ description: 'available, stopping or stopped' }),
  auto_stop_at: Nullable(Timestamp()),
  auto_stop_setting: Text({ description: '`with_action`: only where a job of its own stops it' }),
  description: Nullable(Text()),
  project: BasicProject,
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

/** What is read of the project beside its environments. */
export interface WithProject {
  readonly project: OwnProjectRow
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

export interface ApprovalRow {
  readonly id: number
  readonly user: BasicUserRow | null
  readonly status: string
  readonly comment: string | null
  readonly created_at: string
}

/** What is read of one deployment only. */
export interface DeploymentDetailRow extends DeploymentRow {
  readonly pending: number
  readonly approvals: readonly ApprovalRow[]
  readonly approval_rules: readonly ApprovalRuleRow[]
}

export function approval(row: ApprovalRow, externalUrl: string): Record<string, unknown> {
  return { ...row, user: row.user === null ? null : basicUser(row.user, externalUrl) }
}

/** The approvals of a deployment, and those that each rule has got. */
export function approvalsOf(
  { pending, approvals: rows, approval_rules: rules }: DeploymentDetailRow,
  externalUrl: string,
): Record<string, unknown> {
  const shown = new Map(rows.map((row) => [row.id, approval(row, externalUrl)]))
  return {
    pending_approval_count: pending,
    approvals: [...shown.values()],
    ...(rules.length > 0 && {
      approval_summary: {
        rules: rules.map((rule) => ({
          ...rule,
          access_level_description: levelDescription(rule),
          deployment_approvals: rule.approvals.flatMap((id) => shown.get(id) ?? []),
        })),
      },
    }),
  }
}

/** `deployable`: the job as it is shown, if it is still there. */
export function deployment(
  row: DeploymentRow,
  deployable: Record<string, unknown> | null,
  externalUrl: string,
): Record<string, unknown> {
  return { ...row, user: row.user === null ? null : basicUser(row.user, externalUrl), deployable }
}
