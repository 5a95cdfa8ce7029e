import type { RawBuilder } from 'kysely'
import { sql, type Writer } from '../../kernel/db/index.ts'
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
  readonly projectId: number
  /** Null: he was deleted. */
  readonly userId: number | null
  /** Which of the claimants got it, counted from 0. */
  readonly place: number
}

/**
 * Takes waiting jobs for runners of one class, at most one for each, in one statement that commits by itself. Locked
 * jobs are passed over, so that several nodes share the queue. Instance runners serve the project with the fewest
 * running jobs first; otherwise the oldest job is first.
 *
 * Its cost grows with the projects that wait and the kinds of their jobs, not with the jobs: it steps through the
 * index from one kind to the next, and looks at no more jobs of each than could be given away. Where there are very many
 * kinds, the oldest job is first for everybody.
 */
export async function claimJobs(
  db: Writer,
  of: RunnerClass,
  claimants: readonly Claimant[],
): Promise<{ claims: Claim[]; locked: number; exhausted: boolean }> {
  // Twice as many, since those that another node takes in this moment are passed over.
  const most = 2 * claimants.length
  const { rows } = await sql<ClaimRow>`
    with recursive ${kinds(of)},
    crowd as materialized (select (select count(*) from labels) = ${mostKinds} or count(*) = ${mostKinds} as crowded from kinds),
    running as materialized (${of.type === 'instance_type' ? runningOnInstanceRunners : noneRunning}),
    firsts as materialized (
      select h.project_id, h.tag_list, h.protected, first.queued_at, first.id, coalesce(r.jobs, 0) as running
      from kinds h ${served(of)}
        cross join lateral (
          select j.queued_at, j.id from ci_jobs j where ${ofKind} order by j.queued_at, j.id limit 1) first
        left join running r on r.project_id = h.project_id
      where not (select crowded from crowd) and ${fits(of)}
      order by running, first.queued_at, first.id limit ${most}
    ), candidates as materialized (
      select c.id, c.queued_at, c.place,
        ${of.type === 'instance_type' ? sql`h.running + row_number() over (partition by h.project_id order by c.queued_at, c.id)` : sql`0`}
          as rank
      from firsts h cross join lateral (
        select j.id, j.queued_at, row_number() over (order by j.queued_at, j.id) as place
        from ci_jobs j where ${ofKind} order by j.queued_at, j.id limit ${most}) c
      union all
      (select h.id, h.queued_at, row_number() over (order by h.queued_at, h.id) as place, 0 as rank
      from ci_jobs h ${served(of)}
      where (select crowded from crowd) and h.status = 'pending' and h.kind = 'build' and ${fits(of)} order by h.queued_at, h.id limit ${most})
    ), picked as (
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
      returning j.id, j.pipeline_id, j.project_id, j.user_id, w.place
    )
    select claimed.id as "jobId", claimed.pipeline_id as "pipelineId", claimed.project_id as "projectId",
      claimed.user_id as "userId", (claimed.place - 1)::integer as place,
      (select count(*) from picked)::integer as locked,
      (select count(*) < ${most} from firsts) and not exists (select from candidates c where c.place = ${most})
        as exhausted
    from (select) one left join claimed on true`.execute(db)
  return {
    claims: rows.flatMap(({ locked: _locked, exhausted: _exhausted, jobId, ...claim }) =>
      jobId === null ? [] : [{ jobId, ...claim }],
    ),
    locked: rows[0]!.locked,
    exhausted: rows[0]!.exhausted,
  }
}

interface ClaimRow extends Omit<Claim, 'jobId'> {
  readonly jobId: number | null
  readonly locked: number
  /** There is nothing that was not looked at. */
  readonly exhausted: boolean
}

/** Above it, stepping from one to the next takes too long. */
const mostKinds = 10_000

const waits = sql`j.status = 'pending' and j.kind = 'build'`
const ofKind = sql`
  ${waits} and j.project_id = h.project_id and j.tag_list = h.tag_list and j.protected = h.protected`

const runningOnInstanceRunners = sql`
  select b.project_id, count(*) as jobs from ci_jobs b join ci_runners br on br.id = b.runner_id
  where b.status in ('running', 'canceling') and br.runner_type = 'instance_type' group by b.project_id`
const noneRunning = sql`select null::bigint as project_id, 0::bigint as jobs limit 0`

/**
 * The kinds of jobs that wait (project, tags, protected), each found by one step from the one before. Of a runner's own
 * projects all; else those with tags that it may have, which are found first.
 */
function kinds(of: RunnerClass): RawBuilder<unknown> {
  const label = (where: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    cross join lateral (
      select j.tag_list, j.protected from ci_jobs j where ${waits} and ${where}
      order by j.tag_list, j.protected limit 1) n`
  const step = (where: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    cross join lateral (
      select j.project_id from ci_jobs j
      where ${waits} and j.tag_list = h.tag_list and j.protected = h.protected and ${where}
      order by j.project_id limit 1) n`
  if (of.type === 'project_type') {
    return sql`heads as (${ownHeads(of.projectIds)}), labels as (select), kinds as materialized (
      select h.project_id, h.tag_list, h.protected from heads h limit ${mostKinds})`
  }
  return sql`
    tags as (
      select n.tag_list, n.protected from (select) one ${label(sql`true`)}
      union all
      select n.tag_list, n.protected from tags t
        ${label(sql`(j.tag_list, j.protected) > (t.tag_list, t.protected)`)}
    ), labels as materialized (
      select t.tag_list, t.protected from tags t limit ${mostKinds}
    ), heads as (
      select h.tag_list, h.protected, n.project_id from labels h ${step(sql`true`)} where ${fits(of)}
      union all
      select h.tag_list, h.protected, n.project_id from heads h ${step(sql`j.project_id > h.project_id`)}
    ), kinds as materialized (
      select h.project_id, h.tag_list, h.protected from heads h limit ${mostKinds})`
}

function ownHeads(projectIds: readonly number[]): RawBuilder<unknown> {
  const step = (where: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    cross join lateral (
      select j.project_id, j.tag_list, j.protected from ci_jobs j where ${waits} and ${where}
      order by j.project_id, j.tag_list, j.protected limit 1) n`
  return sql`
    select n.project_id, n.tag_list, n.protected from unnest(${[...projectIds]}::bigint[]) p (id)
      ${step(sql`j.project_id = p.id`)}
    union all
    select n.project_id, n.tag_list, n.protected from heads h
      ${step(sql`j.project_id = h.project_id and (j.tag_list, j.protected) > (h.tag_list, h.protected)`)}`
}

function fits({ tags, untagged, protectedOnly }: RunnerClass): RawBuilder<unknown> {
  return sql`
    h.tag_list <@ ${[...tags]}::text[] ${untagged ? sql`` : sql`and cardinality(h.tag_list) > 0`}
    ${protectedOnly ? sql`and h.protected` : sql``}`
}

/** The projects that runners of this class serve. */
function served(of: RunnerClass): RawBuilder<unknown> {
  switch (of.type) {
    case 'project_type':
      return sql`join unnest(${[...of.projectIds]}::bigint[]) p (id) on p.id = h.project_id`
    case 'group_type':
      return sql`
        join projects p on p.id = h.project_id and coalesce((p.settings ->> 'group_runners_enabled')::boolean, true)
        join namespaces g on g.id = p.namespace_id and g.traversal_ids @> array[${of.namespaceId}::bigint]`
    case 'instance_type':
      return sql`
        join projects p on p.id = h.project_id and coalesce((p.settings ->> 'shared_runners_enabled')::boolean, true)`
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
