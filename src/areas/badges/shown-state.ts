import { sql, type Reader } from '../../kernel/db/index.ts'
import { danglingSources } from '../pipelines/index.ts'

const ofItsOwn = sql`p.source <> all (${[...danglingSources]}::text[])`

/** Of the newest pipeline of this commit on this branch or tag; undefined where none is. */
export async function pipelineStatus(
  db: Reader,
  projectId: number,
  ref: { readonly name: string; readonly tag: boolean; readonly sha: string },
  ignoreSkipped: boolean,
): Promise<string | undefined> {
  const { rows } = await sql<{ status: string }>`
    select p.status from ci_pipelines p
    where p.project_id = ${projectId} and p.sha = ${ref.sha} and p.ref = ${ref.name} and p.tag = ${ref.tag}
      and ${ofItsOwn} ${ignoreSkipped ? sql`and p.status <> 'skipped'` : sql``}
    order by p.iid desc limit 1`.execute(db)
  return rows[0]?.status
}

/** Percent, of the newest successful pipeline of a branch or tag, or of one of its jobs; null where nothing is known. */
export async function coverageOf(
  db: Reader,
  projectId: number,
  ref: string,
  job: string | undefined,
): Promise<number | null> {
  const wanted =
    job === undefined
      ? sql`p.coverage`
      : sql`(select j.coverage from ci_jobs j where j.pipeline_id = p.id and j.name = ${job} and not j.retried limit 1)`
  const { rows } = await sql<{ coverage: number | null }>`
    select ${wanted} as coverage from ci_pipelines p
    where p.project_id = ${projectId} and p.ref = ${ref} and p.status = 'success' and ${ofItsOwn}
    order by p.iid desc limit 1`.execute(db)
  return rows[0]?.coverage ?? null
}

/** The tag of the newest release that is out. */
export async function latestRelease(
  db: Reader,
  projectId: number,
  by: 'released_at' | 'created_at',
): Promise<string | undefined> {
  const { rows } = await sql<{ tag: string }>`
    select r.tag from releases r where r.project_id = ${projectId} and r.released_at <= now()
    order by ${sql.ref(`r.${by}`)} desc, r.id desc limit 1`.execute(db)
  return rows[0]?.tag
}
