import { sql } from '../../../kernel/db/index.ts'
import type { DeploymentEvent } from '../../environments/index.ts'
import { commitOf, type ShownCommit } from './commits.ts'
import {
  hookTime,
  sceneOf,
  shownProject,
  shownUser,
  storageOf,
  userOf,
  webUrl,
  type Builder,
  type Built,
  type PayloadServices,
  type ProjectRow,
  type UserRow,
} from './parts.ts'

export interface DeploymentRow {
  readonly id: number
  readonly name: string
  readonly slug: string
  readonly tier: string
  readonly external_url: string | null
}

interface Deployed {
  readonly status: string
  readonly at: Date
  readonly deployment: DeploymentRow
  /** Of the job that deploys, where one does. */
  readonly jobId: number | null
  readonly user: UserRow | null
  readonly sha: string
  readonly commit: ShownCommit | null
  readonly ref: string
}

/** The call that tells of the status of a deployment. */
export function builtDeployment(services: PayloadServices, project: ProjectRow, of: Deployed): Built {
  const { deployment, jobId, user } = of
  const web = webUrl(services, project)
  const payload = {
    object_kind: 'deployment',
    status: of.status,
    status_changed_at: hookTime(of.at),
    deployment_id: deployment.id,
    deployable_id: jobId,
    deployable_url: jobId === null ? null : `${web}/-/jobs/${jobId}`,
    environment: deployment.name,
    environment_tier: deployment.tier,
    environment_slug: deployment.slug,
    environment_external_url: deployment.external_url,
    project: shownProject(services, project),
    short_sha: of.sha.slice(0, 8),
    user: shownUser(user),
    user_url: user === null ? null : `${services.externalUrl()}/${user.username}`,
    commit_url: `${web}/-/commit/${of.sha}`,
    commit_title: of.commit?.title ?? null,
    ref: of.ref,
  }
  return { trigger: 'deployment', payload }
}

type ToldRow = DeploymentRow & Pick<Deployed, 'sha' | 'ref' | 'user'>

/** Of a deployment that was made elsewhere, and that somebody told of. */
export const buildDeployment: Builder<DeploymentEvent> = async (services, event) => {
  const { deploymentId, status } = event.payload
  const { reader } = services.db
  const scene = await sceneOf(reader, event)
  const { rows } = await sql<ToldRow>`
    select d.id, e.name, e.slug, e.tier, e.external_url, d.sha, d.ref, ${userOf(sql`d.user_id`)} as "user"
    from deployments d join environments e on e.id = d.environment_id where d.id = ${deploymentId}`.execute(
    reader,
  )
  const [deployment] = rows
  if (scene === undefined || deployment === undefined) return []
  const { project } = scene
  const { sha, ref, user } = deployment
  const repository = services.places.of({ id: project.id, storage: await storageOf(reader, project.id) })
  const commit = await commitOf(repository, sha, webUrl(services, project))
  const told = { status, at: event.createdAt, deployment, jobId: null, user, sha, commit, ref }
  return [builtDeployment(services, project, told)]
}
