import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { Packed, SiteFile } from './pack.ts'

/** A job that publishes. */
export interface PublishingJob {
  readonly id: number
  readonly project_id: number
  readonly pipeline_id: number
  readonly user_id: number | null
  readonly ref: string
  readonly sha: string
  /** As it was compiled: true, or what the configuration says. */
  readonly pages:
    true | { readonly publish?: string; readonly pathPrefix?: string; readonly expireIn?: string }
  /** Of its archive; null where there is none. */
  readonly digest: string | null
}

/** Those of these jobs that publish a site. */
export async function publishingJobs(db: Reader, ids: readonly number[]): Promise<PublishingJob[]> {
  const result = await sql<PublishingJob>`
    select j.id, j.project_id, j.pipeline_id, j.user_id, j.ref, p.sha, j.definition -> 'pages' as pages, a.digest
    from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id
    left join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'archive'
    where j.id = any (${ids}::bigint[]) and j.kind = 'build' and j.status = 'success'
      and jsonb_typeof(j.definition -> 'pages') <> 'null'
    order by j.id`.execute(db)
  return result.rows
}

/** Of an event that tells of jobs, whether one of them has published; `event` is its row. */
export const tellsOfSite = sql`exists (
  select from jsonb_to_recordset(event.payload -> 'jobs') told (id bigint, status text) join ci_jobs j on j.id = told.id
  where told.status = 'success' and j.kind = 'build' and jsonb_typeof(j.definition -> 'pages') <> 'null')`

export interface NewDeployment {
  readonly projectId: number
  readonly pathPrefix: string
  readonly rootDirectory: string
  readonly jobId: number
  readonly pipelineId: number
  readonly expiresAt: Date | null
  readonly packed: Packed
}

/** `gone`: the project; `there`: this very job has published before. */
export type Outcome = 'published' | 'there' | 'outdated' | 'full' | 'gone'

/** Deployments of one project beside its site itself. */
export const mostPrefixes = 100

/**
 * Takes the place of the deployment there was; what a later pipeline has published stays. `unique`: whether a site that
 * is new has a name of its own.
 */
export async function publish(tx: Tx, made: NewDeployment, unique: boolean): Promise<Outcome> {
  const { projectId, pathPrefix, packed } = made
  await sql`select pg_advisory_xact_lock(hashtextextended(${`site ${projectId}`}, 0))`.execute(tx)
  const { rows: alive } = await sql`
    select p.id from projects p where p.id = ${projectId} for key share`.execute(tx)
  if (alive.length === 0) return 'gone'
  const { rows: found } = await sql<{ path_prefix: string; job_id: number; pipeline_id: number }>`
    select d.path_prefix, d.job_id, d.pipeline_id from site_deployments d where d.project_id = ${projectId}`.execute(
    tx,
  )
  const before = found.find((one) => one.path_prefix === pathPrefix)
  if (before?.job_id === made.jobId) return 'there'
  if (before !== undefined && isLater(before, made)) return 'outdated'
  if (before === undefined && pathPrefix !== '' && found.length > mostPrefixes) return 'full'
  await sql`
    delete from site_deployments d where d.project_id = ${projectId} and d.path_prefix = ${pathPrefix}`.execute(
    tx,
  )
  const { rows: inserted } = await sql<{ id: number }>`
    insert into site_deployments (project_id, path_prefix, root_directory, job_id, pipeline_id, digest, size, expires_at)
    values (${projectId}, ${pathPrefix}, ${made.rootDirectory}, ${made.jobId}, ${made.pipelineId}, ${packed.digest},
      ${packed.size}, ${made.expiresAt}) returning id`.execute(tx)
  for (let from = 0; from < packed.files.length; from += 5000)
    await insertFiles(tx, inserted[0]!.id, packed.files.slice(from, from + 5000))
  // Last, since pushes wait for whoever has changed the project.
  await settleAddress(tx, projectId, unique)
  return 'published'
}

function isLater(
  before: { readonly job_id: number; readonly pipeline_id: number },
  { pipelineId, jobId }: NewDeployment,
): boolean {
  return before.pipeline_id > pipelineId || (before.pipeline_id === pipelineId && before.job_id > jobId)
}

async function insertFiles(tx: Tx, deployment: number, files: readonly SiteFile[]): Promise<void> {
  await sql`
    insert into site_files (deployment_id, path, start, size, digest)
    select ${deployment}, f.path, f.start, f.size, f.digest
    from jsonb_to_recordset(${JSON.stringify(files)}::jsonb) f (path text, start bigint, size bigint, digest text)`.execute(
    tx,
  )
}

/** A site keeps the address it was first published at, whatever the instance says of new ones later. */
async function settleAddress(tx: Tx, projectId: number, unique: boolean): Promise<void> {
  await sql`
    update projects p set settings = p.settings || jsonb_build_object('pages_unique_domain_enabled', ${unique}::boolean)
    where p.id = ${projectId} and p.settings -> 'pages_unique_domain_enabled' is null`.execute(tx)
}

export interface DeploymentRow {
  readonly path_prefix: string
  readonly root_directory: string
  readonly created_at: Date
}

/** Read together with the caller's access: `subject` is the project. */
export function deployments(): Read<DeploymentRow> {
  return rows(sql`
    select d.path_prefix, d.root_directory, d.created_at from site_deployments d
    where d.project_id = subject.id and (d.expires_at is null or d.expires_at > now()) order by d.path_prefix`)
}

export async function changeSettings(
  db: Database,
  projectId: number,
  changes: Readonly<Record<string, boolean>>,
): Promise<void> {
  await sql`
    update projects p set settings = p.settings || ${JSON.stringify(changes)}::jsonb, updated_at = now()
    where p.id = ${projectId}`.execute(db.writer)
}

export async function removeSite(db: Database, projectId: number): Promise<void> {
  await sql`delete from site_deployments d where d.project_id = ${projectId}`.execute(db.writer)
}

export async function removeExpired(db: Database): Promise<void> {
  await sql`delete from site_deployments d where d.expires_at <= now()`.execute(db.writer)
}
