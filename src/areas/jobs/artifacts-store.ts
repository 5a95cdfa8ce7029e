import type { RawBuilder } from 'kysely'
import { holdContent, removeUnused, type Blobs } from '../../blobs/index.ts'
import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { isAvailable, isOfKeptSuccess } from './kept.ts'

/** The task that counts the cases of a job's test report. */
export const summarizeTests = 'ci:summarize-tests'

export interface StoredArtifact {
  readonly filename: string
  readonly size: number
  readonly digest: string
  readonly access: 'public' | 'private'
}

/** The archive of a job, with what decides who may have it; no `digest` where there is none (any more). */
export interface ArchiveRow {
  readonly id: number
  readonly job_id: number
  readonly artifact_access: string
  readonly filename: string | null
  readonly size: number | null
  readonly digest: string | null
  readonly access: string | null
}

const archiveColumns = sql`
  j.id as job_id, j.id, j.artifact_access, a.filename, a.size, a.digest, a.access`

/** `keeps`: the instance keeps the artifacts of latest successes. */
function archive(keeps: boolean): RawBuilder<unknown> {
  return sql`
    left join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'archive' and ${isAvailable(keeps)}`
}

/** Read together with the caller's access: `subject` is the project. */
export function ofJob(jobId: number, keeps: boolean): Read<ArchiveRow> {
  return rows(sql`
    select ${archiveColumns} from ci_jobs j ${archive(keeps)} where j.id = ${jobId} and j.project_id = subject.id`)
}

/** Of the job of this name in the newest successful pipeline of a ref. */
export function ofRef(ref: string, name: string, keeps: boolean): Read<ArchiveRow> {
  return rows(sql`
    select ${archiveColumns} from ci_pipelines p
    join ci_jobs j on j.pipeline_id = p.id and j.name = ${name} and not j.retried and j.status = 'success' ${archive(keeps)}
    where p.project_id = subject.id and p.ref = ${ref} and p.status = 'success' and p.source <> 'parent_pipeline'
    order by p.iid desc limit 1`)
}

/** What the job of this name in a pipeline has made. */
export async function archiveOf(
  db: Reader,
  pipelineId: number,
  name: string,
): Promise<{ digest: string } | undefined> {
  const result = await sql<{ digest: string }>`
    select a.digest from ci_jobs j join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'archive'
    where j.pipeline_id = ${pipelineId} and j.name = ${name} and j.kind = 'build' and not j.retried
      and (a.expire_at is null or a.expire_at > now())`.execute(db)
  return result.rows[0]
}

/** For a running job, which `actor` names: the archive of another job, and whether it may have it. */
export function forJob(jobId: number, keeps: boolean): Read<ArchiveRow & { project_id: number }> {
  return rows(
    sql`select ${archiveColumns}, j.project_id from ci_jobs j ${archive(keeps)} where j.id = ${jobId}`,
  )
}

export interface NewArtifact extends StoredArtifact {
  readonly projectId: number
  readonly jobId: number
  readonly fileType: string
  readonly fileFormat: string
  /** Null: kept for ever. */
  readonly expireAt: Date | null
}

/**
 * Writes down an artifact whose content is stored; `duplicate` when there is another of its type. Content that is
 * being removed at this moment, since nothing referred to it, is asked for again.
 */
export async function add(
  db: Database,
  blobs: Blobs,
  artifact: NewArtifact,
): Promise<'added' | 'there' | 'duplicate'> {
  return db.transaction(async (tx) => {
    await holdContent(tx, blobs, 'ci_job_artifacts', artifact.digest)
    const { rows: added } = await sql`
      insert into ci_job_artifacts (project_id, job_id, file_type, file_format, filename, size, digest, access,
        expire_at)
      values (${artifact.projectId}, ${artifact.jobId}, ${artifact.fileType}, ${artifact.fileFormat},
        ${artifact.filename}, ${artifact.size}, ${artifact.digest}, ${artifact.access}, ${artifact.expireAt})
      on conflict (job_id, file_type) do nothing returning id`.execute(tx)
    if (added.length > 0) {
      await sql`update ci_jobs j set artifacts_expire_at = ${artifact.expireAt} where j.id = ${artifact.jobId}`.execute(
        tx,
      )
      if (artifact.fileType === 'junit') await enqueue(tx, summarizeTests, { job: artifact.jobId })
      return 'added'
    }
    const same = await tx
      .selectFrom('ci_job_artifacts as a')
      .select('a.id')
      .where('a.job_id', '=', artifact.jobId)
      .where('a.file_type', '=', artifact.fileType)
      .where('a.digest', '=', artifact.digest)
      .executeTakeFirst()
    return same === undefined ? 'duplicate' : 'there'
  })
}

/** Keeps a job's artifacts for ever. */
export async function keep(tx: Tx, jobId: number): Promise<void> {
  await sql`update ci_job_artifacts a set expire_at = null where a.job_id = ${jobId}`.execute(tx)
  await sql`update ci_jobs j set artifacts_expire_at = null, updated_at = now() where j.id = ${jobId}`.execute(
    tx,
  )
}

/**
 * Removes the rows of a job's artifacts; answers the digests of what they referred to. That there were any stays known:
 * jobs that need them do not run without.
 */
export async function removeOf(tx: Tx, jobId: number): Promise<string[]> {
  const { rows: gone } = await sql<{ digest: string }>`
    with gone as (delete from ci_job_artifacts a where a.job_id = ${jobId} returning a.digest),
    job as (update ci_jobs j set artifacts_expire_at = now() where j.id = ${jobId} and exists (select from gone))
    select gone.digest from gone`.execute(tx)
  return gone.map(({ digest }) => digest)
}

/** Lets all artifacts of a project expire now but those of running jobs, a thousand at a time; answers how many. */
export async function expireOfProject(db: Database, projectId: number): Promise<number> {
  const { rows: counted } = await sql<{ expired: number }>`
    with expired as (
      update ci_job_artifacts a set expire_at = now() where a.id in (
        select x.id from ci_job_artifacts x join ci_jobs j on j.id = x.job_id
        where x.project_id = ${projectId} and (x.expire_at is null or x.expire_at > now())
          and j.status not in ('running', 'canceling') limit 1000)
      returning a.job_id
    ), jobs as (
      update ci_jobs j set artifacts_expire_at = now() from expired where j.id = expired.job_id
    )
    select count(*) as expired from expired`.execute(db.writer)
  return counted[0]!.expired
}

/**
 * Removes rows whose time has come, a thousand at a time; locked ones (being kept just now) are left. Those of a latest
 * success are looked at again an hour later. `looked`: 0 when there are no more.
 */
export async function removeExpired(
  db: Database,
  keeps: boolean,
): Promise<{ looked: number; digests: string[] }> {
  const { rows: found } = await sql<{ looked: number; digests: string[] }>`
    with due as (
      select x.id, x.job_id from ci_job_artifacts x
      where x.expire_at <= now() order by x.expire_at limit 1000 for update skip locked
    ), judged as (
      select due.id, ${isOfKeptSuccess(keeps)} as kept from due join ci_jobs j on j.id = due.job_id
    ), kept as (
      update ci_job_artifacts a set expire_at = now() + interval '1 hour'
      from judged where a.id = judged.id and judged.kept
    ), gone as (
      delete from ci_job_artifacts a using judged where a.id = judged.id and not judged.kept returning a.digest
    )
    select (select count(*) from due) as looked,
      coalesce((select array_agg(gone.digest) from gone), '{}') as digests`.execute(db.writer)
  return { looked: found[0]!.looked, digests: found[0]!.digests }
}

/** Removes content that no artifact refers to any more. */
export function removeContent(db: Database, blobs: Blobs, digests: readonly string[]): Promise<void> {
  return removeUnused(db, blobs, 'ci_job_artifacts', digests)
}
