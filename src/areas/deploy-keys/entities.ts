import { Fields, Flag, Id, ListOf, Nullable, Optional, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { projectIdentity } from '../namespaces/index.ts'

const fields = {
  id: Id(),
  title: Text(),
  created_at: Timestamp(),
  expires_at: Nullable(Timestamp()),
  last_used_at: Nullable(Timestamp()),
  key: Text(),
  usage_type: Text(),
  fingerprint: Text(),
  fingerprint_sha256: Text(),
}

export const DeployKey = Fields(fields)
export const ProjectDeployKey = Fields({ ...fields, can_push: Flag() })
const projects = Optional(ListOf(Fields(projectIdentity), { description: 'The projects, to administrators' }))
export const InstanceDeployKey = Fields({
  ...fields,
  projects_with_write_access: projects,
  projects_with_readonly_access: projects,
})

export interface DeployKeyRow {
  readonly id: number
  readonly title: string
  readonly key: string
  readonly usage_type: string
  readonly fingerprint: string
  readonly fingerprint_sha256: string
  readonly created_at: Date | string
  readonly expires_at: Date | string | null
  readonly last_used_at: Date | string | null
}

interface ProjectRow {
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly name_with_namespace: string
  readonly path: string
  readonly path_with_namespace: string
  readonly created_at: string
  readonly can_push: boolean
}

export interface InstanceKeyRow extends DeployKeyRow {
  readonly projects: readonly ProjectRow[]
}

export function deployKey<Row extends DeployKeyRow>(row: Row): Row {
  return { ...row, fingerprint_sha256: `SHA256:${row.fingerprint_sha256}` }
}

export function instanceDeployKey({ projects, ...row }: InstanceKeyRow): Record<string, unknown> {
  const those = (push: boolean) =>
    projects.filter(({ can_push }) => can_push === push).map(({ can_push: _, ...project }) => project)
  return {
    ...deployKey(row),
    projects_with_write_access: those(true),
    projects_with_readonly_access: those(false),
  }
}
