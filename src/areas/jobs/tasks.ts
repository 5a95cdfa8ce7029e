import type { Blobs } from '../../blobs/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { taskNames, type PipelineProcess } from '../pipelines/index.ts'
import * as artifacts from './artifacts-store.ts'
import { removeProjectArtifacts } from './routes-artifacts.ts'
import type { Traces } from './traces.ts'

const sweep = 'ci:sweep-stuck-jobs'
const expire = 'ci:expire-artifacts'

const hour = 3600_000

export const jobSchedules: readonly Schedule[] = [
  { task: sweep, pattern: '* * * * *' },
  { task: expire, pattern: '*/7 * * * *' },
]

/** Jobs that nobody will end, artifacts whose time has come, files that nothing refers to. */
export function jobTasks(
  { db, blobs, settings }: { db: Database; blobs: Blobs; settings: Settings },
  process: PipelineProcess,
  traces: Traces,
): Task[] {
  /** Removes rows, and then their content, until there are no more; and what uploads have left that did not end. */
  async function removeExpired(): Promise<void> {
    await blobs.removeLeftovers(24 * hour)
    for (;;) {
      const { looked, digests } = await artifacts.removeExpired(db, settings.values.keep_latest_artifact)
      if (looked === 0) return
      await artifacts.removeContent(db, blobs, digests)
    }
  }
  return [
    { name: sweep, run: () => sweepStuckJobs(db, process, traces) },
    { name: expire, run: removeExpired },
    {
      name: removeProjectArtifacts,
      async run(payload) {
        const { project } = payload as { project: number }
        while ((await artifacts.expireOfProject(db, project)) > 0) continue
        await removeExpired()
      },
    },
    {
      name: taskNames.removeFiles,
      async run(payload) {
        const { digests = [], jobs = [] } = payload as { digests?: string[]; jobs?: number[] }
        for (const id of jobs) await traces.remove(id)
        await artifacts.removeContent(db, blobs, digests)
      },
    },
  ]
}

interface StuckJob {
  readonly id: number
  readonly pipeline_id: number
  readonly status: string
  readonly since: Date
  readonly overdue: boolean
}

/**
 * What waits for more than an hour, by all that decides who could take it, where nobody could: no runner that was heard
 * of in the last two hours.
 */
const unserved = sql`
  select w.project_id, w.tag_list, w.protected
  from (
    select distinct x.project_id, x.tag_list, x.protected from ci_jobs x
    where x.status = 'pending' and x.kind = 'build' and x.queued_at < now() - interval '1 hour') w
  join projects p on p.id = w.project_id join namespaces n on n.id = p.namespace_id
  where not exists (
    select from ci_runners r
    where not r.paused and r.contacted_at > now() - interval '2 hours' and w.tag_list <@ r.tag_list
      and (r.run_untagged or cardinality(w.tag_list) > 0) and (r.access_level = 'not_protected' or w.protected)
      and case r.runner_type
        when 'instance_type' then coalesce((p.settings ->> 'shared_runners_enabled')::boolean, true)
        when 'group_type' then coalesce((p.settings ->> 'group_runners_enabled')::boolean, true)
          and r.namespace_id = any (n.traversal_ids)
        else exists (
          select from ci_runner_projects rp where rp.runner_id = r.id and rp.project_id = p.id) end)`

/** Ends jobs that ran too long or whose runner is gone, that wait too long, or whose delay was missed. */
export async function sweepStuckJobs(db: Database, process: PipelineProcess, traces: Traces): Promise<void> {
  const { rows } = await sql<StuckJob>`
    select j.id, j.pipeline_id, j.status, coalesce(j.started_at, j.updated_at) as since,
      j.started_at + make_interval(secs => coalesce(j.timeout, 3600) + 900) < now() as overdue
    from ci_jobs j
    where j.status in ('running', 'canceling') and coalesce(j.started_at, j.updated_at) < now() - interval '10 minutes'
    union all
    select j.id, j.pipeline_id, j.status, j.queued_at, false from ci_jobs j
    where j.status = 'pending' and j.kind = 'build' and (j.queued_at < now() - interval '24 hours'
      or j.queued_at < now() - interval '1 hour' and (j.project_id, j.tag_list, j.protected) in (${unserved}))
    union all
    select j.id, j.pipeline_id, j.status, j.scheduled_at, false from ci_jobs j
    where j.status = 'scheduled' and j.scheduled_at < now() - interval '1 hour'`.execute(db.reader)
  for (const { id, pipeline_id, status, since, overdue } of rows) {
    const job = { id, pipelineId: pipeline_id }
    if (status === 'pending') await process.drop(job, 'stuck_or_timeout_failure', ['pending'])
    else if (status === 'scheduled') await process.drop(job, 'stale_schedule', ['scheduled'])
    else if (overdue) await process.drop(job, 'job_execution_server_timeout', [status])
    else {
      const sign = Math.max(since.getTime(), (await traces.lastSign(id))?.getTime() ?? 0)
      if (Date.now() - sign > hour) await process.drop(job, 'stuck_or_timeout_failure', [status])
    }
  }
}
