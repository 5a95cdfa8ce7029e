import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { upgradeStatuses, type UpgradeStatus } from './releases-store.ts'
import { runnerFields, runnerReference, type RunnerRow } from '../jobs/index.ts'

const listFields = {
  ...runnerFields,
  created_at: Timestamp(),
  job_execution_status: Text({ description: 'idle or active' }),
  upgrade_status: Optional(OneOf(upgradeStatuses, { description: 'Where releases are known' })),
}

export const Runner = Fields(listFields)

/** A project that a runner serves. */
export const RunnerProject = Fields({
  id: Id(),
  name: Text(),
  name_with_namespace: Text(),
  path: Text(),
  path_with_namespace: Text(),
})

export const RunnerDetail = Fields({
  ...listFields,
  tag_list: ListOf(Text()),
  run_untagged: Flag(),
  locked: Flag(),
  maximum_timeout: Nullable(Int()),
  access_level: Text(),
  version: Nullable(Text()),
  revision: Nullable(Text()),
  platform: Nullable(Text()),
  architecture: Nullable(Text()),
  contacted_at: Nullable(Timestamp()),
  maintenance_note: Nullable(Text()),
  projects: ListOf(RunnerProject),
  groups: ListOf(Fields({ id: Id(), name: Text(), web_url: Text() })),
})

/** What a runner is given to know itself by; the token only when it is made. */
export const RunnerIdentity = Fields({ id: Id(), token: Text(), token_expires_at: Nullable(Timestamp()) })
export const RunnerToken = Fields({ token: Text(), token_expires_at: Nullable(Timestamp()) })

export interface RunnerListRow extends RunnerRow {
  readonly tag_list: readonly string[]
  readonly busy: boolean
  readonly upgrade_status: UpgradeStatus | null
}

export interface RunnerProjectRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly line_name: string
}

export interface RunnerDetailRow extends RunnerListRow {
  readonly namespace_id: number | null
  readonly run_untagged: boolean
  readonly locked: boolean
  readonly maximum_timeout: number | null
  readonly access_level: 'not_protected' | 'ref_protected'
  readonly maintenance_note: string | null
  readonly updated_at: string
  readonly manager: {
    readonly version: string | null
    readonly revision: string | null
    readonly platform: string | null
    readonly architecture: string | null
    readonly ip_address: string | null
  } | null
  readonly projects: readonly RunnerProjectRow[]
  readonly group: { readonly id: number; readonly name: string; readonly full_path: string } | null
}

export function runner({ upgrade_status, ...row }: RunnerListRow, now: Date): Record<string, unknown> {
  return {
    ...runnerReference(row, now),
    job_execution_status: row.busy ? 'active' : 'idle',
    ...(upgrade_status !== null && { upgrade_status }),
  }
}

export function runnerProject({
  id,
  name,
  path,
  full_path,
  line_name,
}: RunnerProjectRow): Record<string, unknown> {
  return { id, name, name_with_namespace: `${line_name} / ${name}`, path, path_with_namespace: full_path }
}

export function runnerDetail(row: RunnerDetailRow, externalUrl: string, now: Date): Record<string, unknown> {
  const { manager, group } = row
  return {
    ...runner(row, now),
    ip_address: manager?.ip_address ?? null,
    version: manager?.version ?? null,
    revision: manager?.revision ?? null,
    platform: manager?.platform ?? null,
    architecture: manager?.architecture ?? null,
    projects: row.projects.map(runnerProject),
    groups:
      group === null
        ? []
        : [{ id: group.id, name: group.name, web_url: `${externalUrl}/groups/${group.full_path}` }],
  }
}
