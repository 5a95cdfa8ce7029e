import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import type { CompiledJob } from '../../ci/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { isAvailable } from '../jobs/index.ts'
import type { JobDeployToken } from './job-variables.ts'
import {
  isOutdated,
  projectFactsJson,
  type FactsRow,
  type MergeRequestFacts,
  type Upstream,
} from '../pipelines/index.ts'

export interface SealedVariable {
  readonly key: string
  readonly secret: string
  readonly variable_type?: string
  readonly raw?: boolean
}

/** A job of the same pipeline that came before. */
export interface EarlierJob {
  readonly id: number
  readonly name: string
  readonly stage_index: number
  readonly status: string
  readonly makes_archive: boolean
  readonly lost: boolean
  readonly filename: string | null
  readonly size: number | null
  readonly dotenv: string | null
}

/** All that a job's payload is made of, but for the project and its variables. */
export interface HandedJob {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly stage_index: number
  readonly status: string
  readonly project_id: number
  readonly user_id: number | null
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
  readonly definition: CompiledJob
  readonly timeout: number
  readonly run_when: string
  readonly queued_at: string | null
  readonly started_at: string
  readonly manual_variables: readonly SealedVariable[] | null
  readonly pipeline: {
    readonly id: number
    readonly iid: number
    readonly sha: string
    readonly before_sha: string
    readonly source: string
    readonly name: string | null
    readonly created_at: string
    /** Of the trigger that started it. */
    readonly trigger_hint: string | null
    /** Of the schedule that started it. */
    readonly schedule_description: string | null
    /** That it is for. */
    readonly merge_request: MergeRequestFacts | null
    /** The job whose token started it. */
    readonly upstream: Upstream | null
  }
  readonly pipeline_variables: readonly SealedVariable[]
  readonly earlier: readonly EarlierJob[]
  readonly runner: {
    readonly id: number
    readonly description: string | null
    readonly tag_list: readonly string[]
    readonly token_hint: string
    readonly runner_type: string
    readonly version: string | null
    readonly revision: string | null
    readonly platform: string | null
    readonly architecture: string | null
  }
  /** The environment that the job names, as it is. */
  readonly environment: {
    readonly id: number
    readonly tier: string
    readonly external_url: string | null
  } | null
  /** What it deploys is older than what is deployed by now. */
  readonly outdated: boolean
  /** Seconds that jobs of its top-level namespace have run on instance runners this month; null where nobody counts. */
  readonly used: number | null
  /** Running jobs of the project on instance runners, this one not counted. */
  readonly running: number
}

/** A job with what its project brings, sealed. */
export interface HandedRow {
  readonly job: HandedJob
  readonly facts: FactsRow
  /** That jobs of the project get, sealed. */
  readonly deploy_token: SealedDeployToken | null
}

/** A deploy token for jobs, as the area that keeps such brings it: in a statement that knows the project, sealed. */
export interface DeployTokens {
  readonly ofSubject: RawBuilder<SealedDeployToken | null>
  open(sealed: SealedDeployToken): JobDeployToken
}
export interface SealedDeployToken {
  readonly username: string
  readonly secret: string
}

/**
 * Read together with its project and its user's role there: `subject` is the project. `keeps`: the instance keeps the
 * artifacts of latest successes. The job is fenced off: else all of it is put in wherever one of its fields is asked for.
 */
export function handedJob(
  id: number,
  { keeps, deployToken }: { readonly keeps: boolean; readonly deployToken: RawBuilder<unknown> },
): Read<HandedRow> {
  const tag = sql`case when (x.job ->> 'tag')::boolean then x.job ->> 'ref' end`
  const branch = sql`case when not (x.job ->> 'tag')::boolean then
    coalesce(x.job #>> '{pipeline,merge_request,source,branch}', x.job ->> 'ref') end`
  const facts = projectFactsJson(sql`subject.id`, {
    protectedRef: sql`(x.job ->> 'protected')::boolean`,
    tag,
    branch,
  })
  return rows(sql`
    select x.job, ${facts} as facts, ${deployToken} as deploy_token from (select to_jsonb(y) as job from (
      select j.id, j.name, j.stage, j.stage_index, j.status, j.project_id, j.user_id, j.ref, j.tag, j.protected,
        j.definition, j.timeout, j.run_when, j.queued_at, j.started_at, j.manual_variables,
        json_build_object('id', p.id, 'iid', p.iid, 'sha', p.sha, 'before_sha', p.before_sha, 'source', p.source,
          'name', p.name, 'created_at', p.created_at, 'trigger_hint', t.token_hint,
          'schedule_description', (select d.description from ci_pipeline_schedules d where d.id = p.schedule_id),
          'merge_request', p.merge_request, 'upstream',
          case when s.id is not null then
            json_build_object('job_id', s.id, 'pipeline_id', s.pipeline_id, 'project_id', s.project_id) end) as pipeline,
        coalesce((
          select json_agg(json_build_object('key', v.key, 'secret', v.secret, 'variable_type', v.variable_type,
            'raw', v.raw) order by v.id)
          from ci_pipeline_variables v where v.pipeline_id = p.id), '[]') as pipeline_variables,
        coalesce((
          select json_agg(e order by e.stage_index, e.id) from (
            select b.id, b.name, b.stage_index, b.status,
              b.definition -> 'artifacts' @> '[{"artifactType": "archive"}]' as makes_archive,
              b.erased_at is not null or b.artifacts_expire_at < now() as lost,
              a.filename, a.size, d.digest as dotenv
            from ci_jobs b
            left join ci_job_artifacts a on a.job_id = b.id and a.file_type = 'archive'
              and ${isAvailable(keeps)}
            left join ci_job_artifacts d on d.job_id = b.id and d.file_type = 'dotenv'
            where b.pipeline_id = j.pipeline_id and not b.retried and b.kind = 'build' and b.id <> j.id
              and (b.stage_index < j.stage_index or b.name = any (j.needs))) e), '[]') as earlier,
        json_build_object('id', r.id, 'description', r.description, 'tag_list', r.tag_list,
          'token_hint', r.token_hint, 'runner_type', r.runner_type, 'version', m.version, 'revision', m.revision,
          'platform', m.platform, 'architecture', m.architecture) as runner,
        (select json_build_object('id', e.id, 'tier', e.tier, 'external_url', e.external_url) from environments e
          where e.project_id = j.project_id and e.name = j.definition #>> '{environment,expandedName}') as environment,
        ${isOutdated} as outdated, case when r.runner_type = 'instance_type' and subject.visibility < 20 then coalesce((
          select u.seconds from ci_compute_usage u where u.namespace_id = subject.line[1]
            and u.month = date_trunc('month', now() at time zone 'UTC')::date), 0) end as used,
        (select count(*) from ci_jobs o join ci_runners x on x.id = o.runner_id
          where o.project_id = j.project_id and o.status in ('running', 'canceling') and o.id <> j.id
            and x.runner_type = 'instance_type') as running
      from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id join ci_runners r on r.id = j.runner_id
        left join ci_triggers t on t.id = p.trigger_id left join ci_jobs s on s.id = p.source_job_id
        left join ci_runner_managers m on m.id = j.runner_manager_id
      where j.id = ${id} and j.project_id = subject.id) y offset 0) x`)
}
