import { sql } from '../../../kernel/db/index.ts'
import type { ProjectSubject } from '../../../access/index.ts'
import { listCommitIds, parseOid } from '../../../git/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import type { MergeRequestServices } from '../services.ts'

/** A deployment of the project that is the subject, and what was there before it. */
export interface DeployedCommit {
  readonly status: string
  readonly sha: string
  /** Of the last success before in the same environment. */
  readonly before: string | null
}

/** Commits that are looked through, newest first: a first deployment brings all that there is. */
const mostCommits = 20_000

export function deployedCommit(id: number): Read<DeployedCommit> {
  return rows(sql`
    select d.status, d.sha, (
      select o.sha from deployments o
      where o.environment_id = d.environment_id and o.status = 'success' and o.id < d.id
      order by o.id desc limit 1) as before
    from deployments d where d.id = ${id} and d.project_id = subject.id`)
}

/** Ids of the merge requests whose commits a deployment was the first to bring to its environment; none unless it succeeded. */
export async function requestsBroughtBy(
  { db, places }: MergeRequestServices,
  project: ProjectSubject,
  { status, sha, before }: DeployedCommit,
): Promise<number[]> {
  const head = parseOid(sha)
  const known = before === null ? undefined : parseOid(before)
  if (status !== 'success' || head === undefined) return []
  const commits = await listCommitIds(places.of(project), {
    revs: [head],
    not: known === undefined ? [] : [known],
    limit: mostCommits,
  })
  const { rows: found } = await sql<{ id: number }>`
    with brought as (select unnest(${commits}::text[]) as sha)
    select m.id from merge_requests m
    where m.project_id = ${project.id} and m.state = 'merged' and (
      m.merge_commit_sha in (select b.sha from brought b) or m.squash_commit_sha in (select b.sha from brought b)
      or m.merged_sha in (select b.sha from brought b))`.execute(db.reader)
  return found.map(({ id }) => id)
}
