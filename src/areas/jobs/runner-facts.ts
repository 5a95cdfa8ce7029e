import { sql } from '../../kernel/db/index.ts'
import type { JobSubject } from '../../access/index.ts'
import { ApiError, forbidden } from '../../kernel/errors/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'

/** What the runner's calls about its job need of it, read with the job itself. */
export interface RunnerJobRow {
  readonly coverage: string | null
  readonly debug_trace: boolean
  /** MiB that the project, or the nearest group that says something, allows an archive; null: as the instance says. */
  readonly max_artifacts_size: number | null
}

export function runnerJob(): Read<RunnerJobRow> {
  return rows(sql`
    select j.definition ->> 'coverage' as coverage, j.debug_trace,
      coalesce((p.settings ->> 'max_artifacts_size')::integer, (
        select (g.settings ->> 'max_artifacts_size')::integer
        from namespaces n join namespaces g on g.id = any(n.traversal_ids)
        where n.id = p.namespace_id and g.settings ->> 'max_artifacts_size' is not null
        order by cardinality(g.traversal_ids) desc limit 1)) as max_artifacts_size
    from ci_jobs j join projects p on p.id = j.project_id where j.id = subject.id`)
}

/** Refuses for a job that does not run (any more), which makes its runner stop (completions, 8.4). */
export function requireProcessing(job: JobSubject): void {
  if (job.erased) throw forbidden('Job has been erased!')
  if (job.status === 'running' || job.status === 'canceling') return
  throw new ApiError(
    403,
    { message: '403 Forbidden - Job is not processing on runner' },
    { 'job-status': job.status },
  )
}

/** `0-1023` of a trace: first and last byte, both included. */
export function contentRange(header: string | undefined): { first: number; last: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(header?.trim() ?? '')
  return match === null ? undefined : { first: Number(match[1]), last: Number(match[2]) }
}
