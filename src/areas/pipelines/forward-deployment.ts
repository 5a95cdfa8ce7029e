import type { ProjectSubject } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { ciSettings } from './ci-settings.ts'

/** Whether what the job `j` deploys is older than what its environment has by now (completions, 3.6). */
export const isOutdated = sql<boolean>`exists (
  select from deployments d, lateral (
    select l.id, l.sha from deployments l
    where l.environment_id = d.environment_id and l.status = 'success' order by l.id desc limit 1) newest
  where d.job_id = j.id and newest.id > d.id and newest.sha <> d.sha)`

/** Whether a job that waits may not be started, since it would deploy something older than what is there. */
export async function isOvertaken(db: Reader, project: ProjectSubject, jobId: number): Promise<boolean> {
  if (!ciSettings(project).forwardDeployment) return false
  const { rows } = await sql`select from ci_jobs j where j.id = ${jobId} and ${isOutdated}`.execute(db)
  return rows.length > 0
}

/** The latest jobs of a pipeline that may not run again, since that would bring something older back. */
export async function closedRollbacks(
  db: Reader,
  project: ProjectSubject,
  pipelineId: number,
): Promise<ReadonlySet<number>> {
  const { forwardDeployment, rollback } = ciSettings(project)
  if (!forwardDeployment || rollback) return new Set()
  const { rows } = await sql<{ id: number }>`
    select j.id from ci_jobs j where j.pipeline_id = ${pipelineId} and not j.retried and ${isOutdated}`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}
