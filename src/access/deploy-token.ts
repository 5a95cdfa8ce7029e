import { sql, type Statements } from '../kernel/db/index.ts'
import { digestToken } from '../kernel/lib/secrets.ts'
import type { SettingValues } from '../settings/index.ts'
import type { Feature } from './features.ts'
import { FeatureLevel } from './levels.ts'
import type { AnySubject, ProjectSubject } from './subjects.ts'

/** A token of a project or group that stands for no user: it reads code, and reads and writes packages and images. */
export interface DeployToken {
  readonly id: number
  readonly username: string
  readonly scopes: readonly string[]
  readonly projectId: number | null
  /** Of a group: all projects in it and below. */
  readonly namespaceId: number | null
}

export const packageReaders = ['read_package_registry', 'write_package_registry']
const packageWriters = ['write_package_registry']

/** The scopes of which one opens an ability; with none of them it is known of, and refused. */
const scopesFor: Readonly<Record<string, readonly string[]>> = {
  download_code: ['read_repository'],
  upload_code: [],
  read_container_image: ['read_registry'],
  create_container_image: ['write_registry'],
  read_package: packageReaders,
  create_package: packageWriters,
  destroy_package: packageWriters,
}

/** The feature that an ability is about, and whether it only reads. */
const about: Readonly<Record<string, { readonly feature: Feature; readonly reads?: true }>> = {
  download_code: { feature: 'repository', reads: true },
  read_container_image: { feature: 'container_registry', reads: true },
  create_container_image: { feature: 'container_registry' },
  read_package: { feature: 'package_registry', reads: true },
  create_package: { feature: 'package_registry' },
  destroy_package: { feature: 'package_registry' },
}

/**
 * Whether deploy tokens and deploy keys count. They stand for nobody whom a policy server could be asked about: with
 * classification labels they do where the instance says so and has no such server.
 */
export function letsMachinesIn(values: SettingValues): boolean {
  return (
    !values.external_authorization_service_enabled ||
    (values.allow_deploy_tokens_and_keys_with_external_authn && !values.external_authorization_service_url)
  )
}

/** The token with exactly this name and secret that neither ended nor was revoked. */
export async function findDeployToken(
  db: Statements,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<DeployToken | undefined> {
  const token = await deployTokenOf(db, digestToken(password))
  return token?.username === username ? token : undefined
}

/** The token with this digest that neither ended nor was revoked. */
export async function deployTokenOf(db: Statements, digest: string): Promise<DeployToken | undefined> {
  const [row] = await db.rows(
    sql<
      Omit<DeployToken, 'projectId' | 'namespaceId'> & {
        project_id: number | null
        namespace_id: number | null
      }
    >`
      select t.id, t.username, t.scopes, t.project_id, t.namespace_id from deploy_tokens t
      where t.digest = ${digest} and not t.revoked and (t.expires_at is null or t.expires_at > now())`,
  )
  if (row === undefined) return undefined
  const { project_id: projectId, namespace_id: namespaceId, ...token } = row
  return { ...token, projectId, namespaceId }
}

/** Whether a project is the token's own, or lies in its group. */
function reaches({ projectId, namespaceId }: DeployToken, project: ProjectSubject): boolean {
  return projectId === project.id || (namespaceId !== null && project.line.includes(namespaceId))
}

/** What a deploy token may by itself; undefined where it is nobody in particular. */
export function deployTokenDecision(
  token: DeployToken,
  ability: string,
  subject: AnySubject,
): boolean | undefined {
  const scopes = scopesFor[ability]
  if (scopes === undefined || subject.kind !== 'project' || !reaches(token, subject)) return undefined
  if (!scopes.some((scope) => token.scopes.includes(scope))) return false
  const { feature, reads } = about[ability]!
  return subject.features[feature] !== FeatureLevel.disabled && (reads === true || !subject.archived)
}
