import { sql, type RawBuilder } from 'kysely'
import type { Writer } from '../../kernel/db/index.ts'
import { jobsChannel } from '../pipelines/index.ts'

/** What decides which jobs a runner may have (completions, 8.2); runners alike in it form one line. */
export interface RunnerClass {
  readonly type: 'instance_type' | 'group_type' | 'project_type'
  readonly namespaceId: number | null
  /** Of a project runner, in order. */
  readonly projectIds: readonly number[]
  /** In order. */
  readonly tags: readonly string[]
  readonly untagged: boolean
  readonly protectedOnly: boolean
}

/** One that waits, and the token its job would get. */
export interface Claimant {
  readonly runnerId: number
  /** When the runner's row was last changed: whoever changed since must ask anew. */
  readonly version: string
  readonly managerId: number | null
  readonly graceful: boolean
  readonly maximumTimeout: number | null
  readonly tokenDigest: string
}

export interface Claim {
  readonly jobId: number
  readonly pipelineId: number
  /** Which of the claimants got it, counted from 0. */
  readonly place: number
}

/**
 * Takes waiting jobs for runners of one class, at most one for each, in one statement that commits by itself. Locked
 * jobs are passed over, so that several nodes share the queue. Instance runners serve the project with the fewest
 * running jobs first; otherwise the oldest job is first.
 */
export async function claimJobs(
  db: Writer,
  of: RunnerClass,
  claimants: readonly Claimant[],
): Promise<{ claims: Claim[]; locked: number }> {
  const { rows } = await sql<{ jobId: number | null; pipelineId: number; place: number; locked: number }>`
    with candidates as materialized (${candidates(of)}),
    picked as (
      select j.id from candidates c join ci_jobs j on j.id = c.id
      where j.status = 'pending'
      order by c.rank, c.queued_at, c.id limit ${claimants.length}
      for update of j skip locked
    ), paired as (
      select p.id, row_number() over () as place from picked p
    ), claimant as (
      select w.* from unnest(
        ${claimants.map(({ runnerId }) => runnerId)}::bigint[], ${claimants.map(({ version }) => version)}::timestamptz[],
        ${claimants.map(({ managerId }) => managerId)}::bigint[], ${claimants.map(({ graceful }) => graceful)}::boolean[],
        ${claimants.map(({ maximumTimeout }) => maximumTimeout)}::integer[],
        ${claimants.map(({ tokenDigest }) => tokenDigest)}::text[]
      ) with ordinality w (runner_id, version, manager_id, graceful, maximum_timeout, token_digest, place)
    ), claimed as (
      update ci_jobs j set status = 'running', started_at = now(), updated_at = now(), runner_id = w.runner_id,
        runner_manager_id = w.manager_id, cancel_gracefully = w.graceful, token_digest = w.token_digest,
        timeout = least(coalesce(j.timeout, (pr.settings ->> 'build_timeout')::integer, 3600), w.maximum_timeout)
      from paired join claimant w on w.place = paired.place
        join ci_runners r on r.id = w.runner_id and not r.paused and r.updated_at = w.version,
        projects pr
      where j.id = paired.id and pr.id = j.project_id
      returning j.id, j.pipeline_id, w.place
    )
    select claimed.id as "jobId", claimed.pipeline_id as "pipelineId", (claimed.place - 1)::integer as place,
      (select count(*) from picked)::integer as locked
    from (select) one left join claimed on true`.execute(db)
  return {
    claims: rows.flatMap(({ jobId, pipelineId, place }) =>
      jobId === null ? [] : [{ jobId, pipelineId, place }],
    ),
    locked: rows[0]?.locked ?? 0,
  }
}

function candidates(of: RunnerClass): RawBuilder<unknown> {
  const fits = sql`
    j.status = 'pending' and j.kind = 'build' and j.tag_list <@ ${[...of.tags]}::text[]
    ${of.untagged ? sql`` : sql`and cardinality(j.tag_list) > 0`} ${of.protectedOnly ? sql`and j.protected` : sql``}`
  switch (of.type) {
    case 'project_type':
      return sql`
        select j.id, j.queued_at, 0 as rank from ci_jobs j
        where ${fits} and j.project_id = any (${[...of.projectIds]}::bigint[])
        order by j.queued_at, j.id limit 200`
    case 'group_type':
      return sql`
        select j.id, j.queued_at, 0 as rank from ci_jobs j
        join projects p on p.id = j.project_id join namespaces n on n.id = p.namespace_id
        where ${fits} and n.traversal_ids @> array[${of.namespaceId}::bigint]
          and coalesce((p.settings ->> 'group_runners_enabled')::boolean, true)
        order by j.queued_at, j.id limit 200`
    case 'instance_type':
      return sql`
        select c.id, c.queued_at,
          c.place + coalesce((
            select count(*) from ci_jobs b join ci_runners br on br.id = b.runner_id
            where b.project_id = c.project_id and b.status in ('running', 'canceling')
              and br.runner_type = 'instance_type'), 0) as rank
        from (
          select j.id, j.queued_at, j.project_id,
            row_number() over (partition by j.project_id order by j.queued_at, j.id) as place
          from ci_jobs j join projects p on p.id = j.project_id
          where ${fits} and coalesce((p.settings ->> 'shared_runners_enabled')::boolean, true)) c
        where c.place <= 200`
  }
}

/** Gives a job back that was handed to nobody after all. */
export async function unclaim(db: Writer, jobId: number): Promise<void> {
  await sql`
    update ci_jobs j set status = 'pending', started_at = null, runner_id = null, runner_manager_id = null,
      token_digest = null, timeout = (j.definition ->> 'timeout')::integer, updated_at = now()
    where j.id = ${jobId} and j.status = 'running'`.execute(db)
  await sql`select pg_notify(${jobsChannel}, '')`.execute(db)
}
