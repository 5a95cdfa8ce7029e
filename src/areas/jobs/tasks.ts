import { sql } from 'kysely'
import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
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
  { db, blobs }: { db: Database; blobs: Blobs },
  process: PipelineProcess,
  traces: Traces,
): Task[] {
  return [
    { name: sweep, run: () => sweepStuckJobs(db, process, traces) },
    { name: expire, run: () => emptied(() => artifacts.removeExpired(db), db, blobs) },
    {
      name: removeProjectArtifacts,
      run: (payload) =>
        emptied(() => artifacts.removeOfProject(db, (payload as { project: number }).project), db, blobs),
    },
    {
      name: taskNames.removeFiles,
      async run(payload) {
        const { digests = [], jobs = [] } = payload as { digests?: string[]; jobs?: number[] }
        for (const id of jobs) await traces.remove(id)
        await artifacts.removeUnused(db, blobs, digests)
      },
    },
  ]
}

/** Removes rows, and then their content, until there are no more. */
async function emptied(remove: () => Promise<string[]>, db: Database, blobs: Blobs): Promise<void> {
  for (;;) {
    const digests = await remove()
    if (digests.length === 0) return
    await artifacts.removeUnused(db, blobs, digests)
  }
}

interface StuckJob {
  readonly id: number
  readonly pipeline_id: number
  readonly status: string
  readonly since: Date
  readonly overdue: boolean
}

/** Ends jobs that ran too long or whose runner is gone, that wait too long, or whose delay was missed. */
export async function sweepStuckJobs(db: Database, process: PipelineProcess, traces: Traces): Promise<void> {
  const { rows } = await sql<StuckJob>`
    select j.id, j.pipeline_id, j.status, coalesce(j.started_at, j.updated_at) as since,
      j.started_at + make_interval(secs => coalesce(j.timeout, 3600) + 900) < now() as overdue
    from ci_jobs j
    where j.status in ('running', 'canceling') and coalesce(j.started_at, j.updated_at) < now() - interval '10 minutes'
    union all
    select j.id, j.pipeline_id, j.status, j.queued_at, false from ci_jobs j
    where j.status = 'pending' and j.queued_at < now() - interval '24 hours'
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
