import { find, may, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { isAvailable } from '../jobs/index.ts'
import type { EarlierJob, HandedJob } from './job-row.ts'

const columns = sql`
  j.id, j.name, j.stage_index, j.status, true as makes_archive, false as lost, a.filename, a.size, d.digest as dotenv`
const artifacts = (keeps: boolean) => sql`
  join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'archive' and ${isAvailable(keeps)}
  left join ci_job_artifacts d on d.job_id = j.id and d.file_type = 'dotenv'`

/**
 * The jobs of other pipelines whose artifacts a job gets: the newest success of that name on a ref, or one of a
 * pipeline that has the same parent somewhere. `missing` where one of them is not there, or not for this job. `expand` puts
 * variables into a text; `actor` is the job's user with no more rights than the job's token. `keeps`: the instance keeps
 * the artifacts of latest successes.
 */
export async function crossDependencies(
  db: Reader,
  actor: Actor,
  { definition, pipeline }: HandedJob,
  { expand, keeps }: { readonly expand: (text: string) => string; readonly keeps: boolean },
): Promise<readonly EarlierJob[] | 'missing'> {
  const found: EarlierJob[] = []
  for (const need of definition.crossNeeds) {
    if (!need.artifacts) continue
    const job =
      need.project === undefined
        ? await ofPipeline(db, keeps, Number(expand(need.pipeline ?? '')), pipeline.id, expand(need.job))
        : await ofProject(db, keeps, actor, expand(need.project), expand(need.ref ?? ''), expand(need.job))
    if (job === undefined) return 'missing'
    found.push(job)
  }
  return found
}

async function ofProject(
  db: Reader,
  keeps: boolean,
  actor: Actor,
  path: string,
  ref: string,
  name: string,
): Promise<EarlierJob | undefined> {
  const project = await find<ProjectSubject>(db, projectKind, actor, path.toLowerCase())
  if (project === undefined || !may(actor, 'read_job', project)) return undefined
  const { rows } = await sql<EarlierJob>`
    select ${columns} from (
      select s.id, s.name, s.stage_index, s.status, s.project_id, s.pipeline_id from ci_jobs s
      where s.project_id = ${project.id} and s.status = 'success' and s.ref = ${ref} and s.name = ${name}
        and s.kind = 'build' and not s.retried
      order by s.id desc limit 1) j
    ${artifacts(keeps)}`.execute(db)
  return rows[0]
}

async function ofPipeline(
  db: Reader,
  keeps: boolean,
  id: number,
  ownId: number,
  name: string,
): Promise<EarlierJob | undefined> {
  if (!Number.isSafeInteger(id) || id === ownId) return undefined
  const { rows } = await sql<EarlierJob>`
    with recursive up as (
      select p.id as origin, p.id, p.source, p.source_job_id from ci_pipelines p where p.id in (${id}, ${ownId})
      union all
      select up.origin, p.id, p.source, p.source_job_id
      from up join ci_jobs b on b.id = up.source_job_id join ci_pipelines p on p.id = b.pipeline_id
      where up.source = 'parent_pipeline'
    )
    select ${columns} from ci_jobs j ${artifacts(keeps)}
    where j.pipeline_id = ${id} and j.name = ${name} and not j.retried and j.status = 'success'
      and exists (
        select from up one join up other on other.id = one.id
        where one.origin = ${id} and other.origin = ${ownId}
          and one.source <> 'parent_pipeline')`.execute(db)
  return rows[0]
}
