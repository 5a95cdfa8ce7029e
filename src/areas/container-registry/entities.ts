import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  Fields,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'

const briefTag = { name: Text(), path: Text(), location: Text() }

export const BriefTag = Fields(briefTag)

export const Tag = Fields({
  ...briefTag,
  revision: Text({ description: "Hex of the configuration's digest; of an index its own" }),
  short_revision: Text(),
  digest: Text(),
  created_at: Timestamp({ description: 'When the tag got its manifest' }),
  total_size: Int({ description: 'Bytes of all layers' }),
})

export const Repository = Fields({
  id: Id(),
  name: Text(),
  path: Text(),
  project_id: Id(),
  location: Text(),
  created_at: Timestamp(),
  cleanup_policy_started_at: Nullable(Timestamp()),
  status: Nullable(OneOf('delete_scheduled', 'delete_failed')),
  delete_api_path: Optional(Text({ description: 'For those who may delete it' })),
  tags_count: Optional(Int()),
  tags: Optional(ListOf(BriefTag)),
  size: Optional(Int({ description: 'Bytes of all that it holds' })),
})

export interface RepositoryRow {
  readonly id: number
  readonly name: string
  readonly project_id: number
  readonly status: string | null
  readonly cleanup_started_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly tags_count?: number
  readonly tags?: readonly string[]
  readonly size?: number
}

export interface TagRow {
  readonly name: string
  readonly digest: string
  readonly config_digest: string | null
  readonly pushed_at: string
  readonly total_size: number
}

/** What answers need besides rows. */
export interface EntityContext {
  readonly actor: Actor
  readonly externalUrl: string
  /** Host and port under which clients of containers reach the registry. */
  readonly host: string
}

export function pathOf(row: Pick<RepositoryRow, 'name'>, project: Pick<ProjectSubject, 'fullPath'>): string {
  const path = project.fullPath.toLowerCase()
  return row.name === '' ? path : `${path}/${row.name}`
}

export function repository(row: RepositoryRow, project: ProjectSubject, context: EntityContext) {
  const path = pathOf(row, project)
  const { externalUrl, host, actor } = context
  return {
    ...row,
    path,
    location: `${host}/${path}`,
    cleanup_policy_started_at: row.cleanup_started_at,
    delete_api_path: may(actor, 'admin_container_image', project)
      ? `${externalUrl}/api/v4/projects/${row.project_id}/registry/repositories/${row.id}`
      : undefined,
    tags: row.tags?.map((name) => briefTagOf(name, path, host)),
  }
}

export function briefTagOf(name: string, path: string, host: string) {
  return { name, path: `${path}:${name}`, location: `${host}/${path}:${name}` }
}

export function tag(row: TagRow, path: string, host: string) {
  const revision = (row.config_digest ?? row.digest).replace(/^\w+:/, '')
  return {
    ...briefTagOf(row.name, path, host),
    revision,
    short_revision: revision.slice(0, 9),
    digest: row.digest,
    created_at: row.pushed_at,
    total_size: row.total_size,
  }
}
