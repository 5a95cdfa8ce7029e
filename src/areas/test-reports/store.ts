import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { Counts, StoredReport } from './report.ts'

/** Days that a failure counts as recent. */
export const recentDays = 14

const suite = sql`j.definition ->> 'groupName'`

/** One row where the pipeline exists, with the reports of its latest jobs. */
export function reportsOf(pipelineId: number): Read<{ reports: StoredReport[] }> {
  return rows(sql`
    select coalesce((
      select json_agg(json_build_object('job_id', j.id, 'suite', ${suite}, 'digest', a.digest, 'size', a.size)
        order by j.id)
      from ci_jobs j join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'junit'
        and (a.expire_at is null or a.expire_at > now())
      where j.pipeline_id = p.id and not j.retried), '[]') as reports
    from ci_pipelines p where p.id = ${pipelineId} and p.project_id = subject.id`)
}

export interface SummaryRow extends Counts {
  readonly job_id: number
  readonly suite: string
  readonly time: number
  readonly suite_error: string | null
}

/** The same with what was counted in the reports when they came. */
export function summariesOf(pipelineId: number): Read<{ summaries: SummaryRow[] }> {
  return rows(sql`
    select coalesce((
      select json_agg(json_build_object('job_id', s.job_id, 'suite', s.suite, 'time', s.time, 'success', s.success,
        'failed', s.failed, 'skipped', s.skipped, 'error', s.error, 'suite_error', s.suite_error) order by s.job_id)
      from ci_test_summaries s join ci_jobs j on j.id = s.job_id
      where s.pipeline_id = p.id and not j.retried), '[]') as summaries
    from ci_pipelines p where p.id = ${pipelineId} and p.project_id = subject.id`)
}

export interface JobReport extends StoredReport {
  readonly project_id: number
  readonly pipeline_id: number
  /** The branch, where the job ran for the default one. */
  readonly default_branch: string | null
}

export async function reportOfJob(db: Reader, jobId: number): Promise<JobReport | undefined> {
  const { rows: found } = await sql<JobReport>`
    select j.id as job_id, ${suite} as suite, a.digest, a.size, j.project_id, j.pipeline_id,
      case when not j.tag and j.ref = p.default_branch then j.ref end as default_branch
    from ci_jobs j join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'junit'
    join projects p on p.id = j.project_id where j.id = ${jobId}`.execute(db)
  return found[0]
}

export async function saveSummary(
  tx: Tx,
  report: JobReport,
  { counts, time, error }: { counts: Counts; time: number; error: string | null },
): Promise<void> {
  const { success, failed, skipped, error: errors } = counts
  await sql`
    insert into ci_test_summaries (job_id, project_id, pipeline_id, suite, time, success, failed, skipped, error,
      suite_error)
    values (${report.job_id}, ${report.project_id}, ${report.pipeline_id}, ${report.suite}, ${time}, ${success},
      ${failed}, ${skipped}, ${errors}, ${error})
    on conflict (job_id) do nothing`.execute(tx)
}

/** Notes tests that failed on the default branch. */
export async function noteFailures(
  tx: Tx,
  { project_id, job_id, default_branch }: JobReport,
  digests: readonly string[],
): Promise<void> {
  if (default_branch === null || digests.length === 0) return
  await sql`
    insert into ci_test_failures (project_id, test_digest, job_id, branch)
    select ${project_id}, d.digest, ${job_id}, ${default_branch} from unnest(${[...digests]}::text[]) d (digest)
    on conflict do nothing`.execute(tx)
}

export interface RecentFailures {
  readonly count: number
  readonly base_branch: string
}

/** How often these tests failed on the default branch lately. */
export async function recentFailures(
  db: Reader,
  projectId: number,
  digests: readonly string[],
): Promise<Map<string, RecentFailures>> {
  if (digests.length === 0) return new Map()
  const { rows: found } = await sql<RecentFailures & { test_digest: string }>`
    select f.test_digest, count(*)::integer as count, max(f.branch) as base_branch
    from ci_test_failures f
    where f.project_id = ${projectId} and f.test_digest = any (${[...digests]}::text[])
      and f.failed_at > now() - make_interval(days => ${recentDays})
    group by f.test_digest`.execute(db)
  return new Map(found.map(({ test_digest, count, base_branch }) => [test_digest, { count, base_branch }]))
}

/** Forgets failures that no longer count, a thousand at a time; answers how many went. */
export async function forgetOldFailures(db: Tx): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ci_test_failures f where f.ctid = any (array(
      select x.ctid from ci_test_failures x where x.failed_at < now() - make_interval(days => ${recentDays})
      limit 1000))`.execute(db)
  return Number(numAffectedRows ?? 0)
}
