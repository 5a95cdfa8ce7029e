import type { RawBuilder } from 'kysely'
import { pipelineDetailedStatus, reportedPipelineStatus, type Status } from '../../../ci/index.ts'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import type { Cipher } from '../../../kernel/lib/secrets.ts'
import { pipelineSecretContext, type JobEvent, type PipelineEvent } from '../../pipelines/index.ts'
import { commitOf } from './commits.ts'
import { builtDeployment, type DeploymentRow } from './deployment.ts'
import {
  hookTime,
  projectOf,
  sceneOf,
  shownProject,
  shownRepository,
  shownUser,
  userOf,
  webUrl,
  type Builder,
  type Built,
  type ProjectRow,
  type UserRow,
} from './parts.ts'

interface JobRow {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: Status
  readonly run_when: string
  readonly allow_failure: boolean
  readonly failure_reason: string | null
  readonly created_at: string
  readonly queued_at: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly retries: number
  readonly user: UserRow | null
  readonly runner: RunnerRow | null
  readonly artifacts: { readonly filename: string; readonly size: number } | null
  readonly deployment: JobDeploymentRow | null
}

type JobDeploymentRow = DeploymentRow & { readonly action: string }

interface RunnerRow {
  readonly id: number
  readonly description: string | null
  readonly runner_type: string
  readonly active: boolean
  readonly tags: readonly string[]
}

interface PipelineRow {
  readonly id: number
  readonly iid: number
  readonly name: string | null
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
  readonly sha: string
  readonly before_sha: string
  readonly source: string
  readonly status: Status
  readonly has_warnings: boolean
  readonly duration: number | null
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly storage: string
  readonly jobs: readonly JobRow[]
  readonly variables: readonly { readonly key: string; readonly secret: string }[]
  readonly merge_request: MergeRequestRow | null
  readonly upstream: {
    readonly job_id: number
    readonly pipeline_id: number
    readonly project: ProjectRow
  } | null
}

interface MergeRequestRow {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly source_branch: string
  readonly source_project_id: number | null
  readonly target_branch: string
  readonly target_project_id: number
  readonly state: string
  readonly merge_status: string
}

const jobJson: RawBuilder<unknown> = sql`json_build_object('id', j.id, 'name', j.name, 'stage', j.stage,
  'status', j.status, 'run_when', j.run_when, 'allow_failure', j.allow_failure, 'failure_reason', j.failure_reason,
  'created_at', j.created_at, 'queued_at', j.queued_at, 'started_at', j.started_at, 'finished_at', j.finished_at,
  'user', ${userOf(sql`j.user_id`)},
  'retries', (select count(*) from ci_jobs o where o.pipeline_id = j.pipeline_id and o.name = j.name and o.retried),
  'runner', (select json_build_object('id', r.id, 'description', r.description, 'runner_type', r.runner_type,
    'active', not r.paused, 'tags', r.tag_list) from ci_runners r where r.id = j.runner_id),
  'artifacts', (select json_build_object('filename', a.filename, 'size', a.size) from ci_job_artifacts a
    where a.job_id = j.id and a.file_type = 'archive'),
  'deployment', (select json_build_object('id', d.id, 'name', e.name, 'slug', e.slug, 'tier', e.tier,
    'external_url', e.external_url, 'action', coalesce(j.definition -> 'environment' ->> 'action', 'start'))
    from deployments d join environments e on e.id = d.environment_id where d.job_id = j.id limit 1))`

const pipelineJson = (jobs: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select c.id, c.iid, c.name, c.ref, c.tag, c.protected, c.sha, c.before_sha, c.source, c.status, c.has_warnings,
    c.duration, c.created_at, c.started_at, c.finished_at, p.storage,
    coalesce((select json_agg(${jobJson} order by j.stage_index, j.id) from ci_jobs j
      where j.pipeline_id = c.id and ${jobs}), '[]'::json) as jobs,
    coalesce((select json_agg(json_build_object('key', v.key, 'secret', v.secret) order by v.id)
      from ci_pipeline_variables v where v.pipeline_id = c.id and c.source <> 'schedule'), '[]'::json) as variables,
    (select json_build_object('id', m.id, 'iid', m.iid, 'title', m.title, 'source_branch', m.source_branch,
      'source_project_id', m.source_project_id, 'target_branch', m.target_branch, 'target_project_id', m.project_id,
      'state', m.state, 'merge_status', m.merge_status)
      from merge_requests m where m.id = c.merge_request_id) as merge_request,
    (select json_build_object('job_id', s.id, 'pipeline_id', s.pipeline_id, 'project', ${projectOf(sql`s.project_id`)})
      from ci_jobs s where s.id = c.source_job_id) as upstream
  from ci_pipelines c join projects p on p.id = c.project_id`

async function pipelineOf(
  db: Reader,
  id: number,
  jobs: RawBuilder<unknown>,
): Promise<PipelineRow | undefined> {
  const { rows } = await sql<{ row: PipelineRow }>`
    select to_json(r) as row from (${pipelineJson(jobs)} where c.id = ${id}) r`.execute(db)
  return rows[0]?.row
}

const seconds = (from: string | null, to: string | null): number | null =>
  from === null ? null : (new Date(to ?? Date.now()).getTime() - new Date(from).getTime()) / 1000

function shownRunner(runner: RunnerRow | null): object | null {
  return runner === null ? null : { ...runner, is_shared: runner.runner_type === 'instance_type' }
}

function shownEnvironment(deployment: JobDeploymentRow | null): object | null {
  if (deployment === null) return null
  return { name: deployment.name, action: deployment.action, deployment_tier: deployment.tier }
}

function upstreamOf({ upstream }: PipelineRow, externalUrl: string): object {
  if (upstream === null) return {}
  const { project } = upstream
  return {
    source_pipeline: {
      project: {
        id: project.id,
        web_url: `${externalUrl}/${project.full_path}`,
        path_with_namespace: project.full_path,
      },
      pipeline_id: upstream.pipeline_id,
      job_id: upstream.job_id,
    },
  }
}

/** Of a pipeline whose status changed. */
export function pipelineBuilder(cipher: Cipher): Builder<PipelineEvent> {
  return async (services, event) => {
    const { pipelineId, status } = event.payload
    const scene = await sceneOf(services.db.reader, event)
    const row = await pipelineOf(services.db.reader, pipelineId, sql`not j.retried`)
    if (scene === undefined || row === undefined) return []
    const { project, user } = scene
    const web = webUrl(services, project)
    const repository = services.places.of({ id: project.id, storage: row.storage })
    const payload = {
      object_kind: 'pipeline',
      object_attributes: {
        id: row.id,
        iid: row.iid,
        name: row.name,
        ref: row.ref,
        tag: row.tag,
        sha: row.sha,
        before_sha: row.before_sha,
        source: row.source,
        status: reportedPipelineStatus(status),
        detailed_status: pipelineDetailedStatus(status, row.has_warnings).label,
        stages: [...new Set(row.jobs.map(({ stage }) => stage))],
        created_at: hookTime(row.created_at),
        finished_at: hookTime(row.finished_at),
        duration: row.duration,
        queued_duration:
          row.started_at === null ? null : Math.floor(seconds(row.created_at, row.started_at)!),
        protected_ref: row.protected,
        variables: row.variables.map(({ key, secret }) => ({
          key,
          value: cipher.open(secret, pipelineSecretContext),
        })),
        url: `${web}/-/pipelines/${row.id}`,
      },
      merge_request:
        row.merge_request === null
          ? null
          : { ...row.merge_request, url: `${web}/-/merge_requests/${row.merge_request.iid}` },
      user: shownUser(user),
      project: shownProject(services, project),
      commit: await commitOf(repository, row.sha, web),
      builds: row.jobs.map((job) => ({
        id: job.id,
        stage: job.stage,
        name: job.name,
        status: job.status,
        created_at: hookTime(job.created_at),
        started_at: hookTime(job.started_at),
        finished_at: hookTime(job.finished_at),
        duration: seconds(job.started_at, job.finished_at),
        queued_duration: seconds(job.queued_at, job.started_at),
        failure_reason: job.status === 'failed' ? job.failure_reason : null,
        when: job.run_when,
        manual: job.run_when === 'manual',
        allow_failure: job.allow_failure,
        user: shownUser(job.user),
        runner: shownRunner(job.runner),
        artifacts_file: { filename: job.artifacts?.filename ?? null, size: job.artifacts?.size ?? null },
        environment: shownEnvironment(job.deployment),
      })),
      ...upstreamOf(row, services.externalUrl()),
    }
    return [{ trigger: 'pipeline', payload }]
  }
}

/** The statuses of a deployment that are news. */
const deploymentStatuses: ReadonlySet<string> = new Set(['running', 'success', 'failed', 'canceled'])

/** Of jobs whose status changed, and of what they deploy. */
export const buildJobs: Builder<JobEvent> = async (services, event) => {
  const { pipelineId, jobs } = event.payload
  const scene = await sceneOf(services.db.reader, event)
  const ids = jobs.map(({ id }) => id)
  const row = await pipelineOf(services.db.reader, pipelineId, sql`j.id = any (${ids}::bigint[])`)
  if (scene === undefined || row === undefined) return []
  const { project } = scene
  const web = webUrl(services, project)
  const commit = await commitOf(services.places.of({ id: project.id, storage: row.storage }), row.sha, web)
  const statuses = new Map(jobs.map(({ id, status }) => [id, status]))
  return row.jobs.flatMap((job): Built[] => {
    const status = statuses.get(job.id) ?? job.status
    const { deployment } = job
    const payload = {
      object_kind: 'build',
      ref: row.ref,
      tag: row.tag,
      before_sha: row.before_sha,
      sha: row.sha,
      retries_count: job.retries,
      build_id: job.id,
      build_name: job.name,
      build_stage: job.stage,
      build_status: status,
      build_created_at: hookTime(job.created_at),
      build_started_at: hookTime(job.started_at),
      build_finished_at: hookTime(job.finished_at),
      build_created_at_iso: iso(job.created_at),
      build_started_at_iso: iso(job.started_at),
      build_finished_at_iso: iso(job.finished_at),
      build_duration: seconds(job.started_at, job.finished_at),
      build_queued_duration: seconds(job.queued_at, job.started_at),
      build_allow_failure: job.allow_failure,
      build_failure_reason: job.failure_reason ?? 'unknown_failure',
      pipeline_id: row.id,
      runner: shownRunner(job.runner),
      project_id: project.id,
      project_name: `${project.namespace} / ${project.name}`,
      user: shownUser(job.user),
      commit: {
        id: row.id,
        name: row.name,
        sha: row.sha,
        message: commit?.message ?? null,
        author_name: commit?.author.name ?? null,
        author_email: commit?.author.email ?? null,
        author_url: commit === null ? null : `mailto:${commit.author.email}`,
        status: reportedPipelineStatus(row.status),
        duration: row.duration,
        started_at: hookTime(row.started_at),
        finished_at: hookTime(row.finished_at),
      },
      repository: shownRepository(services, project),
      project: shownProject(services, project),
      environment: shownEnvironment(deployment),
      ...upstreamOf(row, services.externalUrl()),
    }
    if (deployment === null || !deploymentStatuses.has(status)) return [{ trigger: 'job', payload }]
    const { user } = job
    const { sha, ref } = row
    const deployed = { status, at: event.createdAt, deployment, jobId: job.id, user, sha, commit, ref }
    return [{ trigger: 'job', payload }, builtDeployment(services, project, deployed)]
  })
}

const iso = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString())
