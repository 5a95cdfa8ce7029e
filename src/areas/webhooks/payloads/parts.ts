import type { RawBuilder } from 'kysely'
import { sql, type Database, type Reader } from '../../../kernel/db/index.ts'
import type { DomainEvent } from '../../../tasks/index.ts'
import type { RepositoryPlaces } from '../../repository/index.ts'
import type { RefProtection } from '../../pipelines/index.ts'
import type { TriggerName } from '../triggers.ts'

export interface PayloadServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly refProtection: RefProtection
  readonly externalUrl: () => string
  readonly sshAddress: (fullPath: string) => string
}

/** What webhooks are called with. */
export interface Built {
  readonly trigger: TriggerName
  readonly payload: object
  /** Of a push: webhooks may want some branches only. */
  readonly branch?: string
  /** A switch that has to be on as well: what it tells is confidential. */
  readonly besides?: TriggerName
  /** What webhooks of the instance are called with, where it differs. */
  readonly forInstance?: object
}

/** Makes of an event what the webhooks are called with; nothing when what it is about is gone. */
export type Builder<Payload = never> = (
  services: PayloadServices,
  event: DomainEvent<Payload>,
) => Promise<readonly Built[]>

export interface UserRow {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly email: string
  readonly public_email: string | null
}

export interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly full_path: string
  readonly namespace: string
  readonly visibility: number
  readonly default_branch: string | null
  readonly ci_config_path: string | null
}

/** The columns of a `UserRow` as JSON, of `users u`. */
export const userJson: RawBuilder<unknown> = sql`json_build_object('id', u.id, 'name', u.name, 'username', u.username,
  'email', u.email, 'public_email', u.public_email)`

/** The columns of a `ProjectRow` as JSON, of `projects p` in `namespaces n`. */
export const projectJson: RawBuilder<unknown> = sql`json_build_object('id', p.id, 'name', p.name,
  'description', p.description, 'full_path', p.full_path, 'namespace', n.name, 'visibility', p.visibility,
  'default_branch', p.default_branch, 'ci_config_path', p.settings ->> 'ci_config_path')`

export const userOf = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select ${userJson} from users u where u.id = ${id})`

export const projectOf = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select ${projectJson} from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id})`

export interface Scene {
  readonly project: ProjectRow
  readonly user: UserRow | null
}

/** Where something happened, and who did it; undefined when the project is gone. */
export async function sceneOf(
  db: Reader,
  { projectId, userId }: Pick<DomainEvent, 'projectId' | 'userId'>,
): Promise<Scene | undefined> {
  const { rows } = await sql<{ project: ProjectRow | null; user: UserRow | null }>`
    select ${projectOf(sql`${projectId}::bigint`)} as project, ${userOf(sql`${userId}::bigint`)} as "user"`.execute(
    db,
  )
  const { project, user } = rows[0]!
  return project === null ? undefined : { project, user }
}

/** Where the repository of a project lies that is known to be there. */
export async function storageOf(db: Reader, projectId: number): Promise<string> {
  const { rows } = await sql<{ storage: string }>`
    select p.storage from projects p where p.id = ${projectId}`.execute(db)
  return rows[0]!.storage
}

export function shownUser(user: UserRow | null): object | null {
  if (user === null) return null
  return {
    id: user.id,
    name: user.name,
    username: user.username,
    avatar_url: null,
    email: shownEmail(user),
  }
}

/** People keep their address to themselves unless they made it public. */
export const shownEmail = ({ public_email: open }: Pick<UserRow, 'public_email'>): string =>
  open === null || open === '' ? '[REDACTED]' : open

export const webUrl = ({ externalUrl }: PayloadServices, project: ProjectRow): string =>
  `${externalUrl()}/${project.full_path}`

export function shownProject(services: PayloadServices, project: ProjectRow): object {
  const web = webUrl(services, project)
  const ssh = services.sshAddress(project.full_path)
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url: web,
    avatar_url: null,
    git_ssh_url: ssh,
    git_http_url: `${web}.git`,
    namespace: project.namespace,
    visibility_level: project.visibility,
    path_with_namespace: project.full_path,
    default_branch: project.default_branch,
    ci_config_path: project.ci_config_path,
    homepage: web,
    url: ssh,
    ssh_url: ssh,
    http_url: `${web}.git`,
  }
}

export function shownRepository(services: PayloadServices, project: ProjectRow): object {
  const web = webUrl(services, project)
  const ssh = services.sshAddress(project.full_path)
  return {
    name: project.name,
    url: ssh,
    description: project.description,
    homepage: web,
    git_http_url: `${web}.git`,
    git_ssh_url: ssh,
    visibility_level: project.visibility,
  }
}

/** `2026-02-03 09:41:07 UTC`, as webhooks write times. */
export function hookTime(value: string | Date): string
export function hookTime(value: string | Date | null): string | null
export function hookTime(value: string | Date | null): string | null {
  return value === null ? null : `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export interface GroupRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
}

export async function groupOf(db: Reader, id: number): Promise<GroupRow | undefined> {
  const { rows } = await sql<GroupRow>`
    select n.id, n.name, n.path, n.full_path from namespaces n where n.id = ${id}`.execute(db)
  return rows[0]
}

export function shownGroup({ id, name, path, full_path }: GroupRow): object {
  return { group_name: name, group_path: path, group_id: id, full_path }
}

/** `2026-02-03T09:41:07Z`, as webhooks of the instance write times. */
export function plainTime(value: string): string
export function plainTime(value: string | null): string | null
export function plainTime(value: string | null): string | null {
  return value === null ? null : new Date(value).toISOString().replace(/\.\d+/, '')
}
