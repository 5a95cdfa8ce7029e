import { enterAs, project as projectKind, type Actor, type ProjectSubject } from '../../access/index.ts'
import { listCommits, type Oid } from '../../git/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { closeAs, closedBy, findReferenced } from '../issues/index.ts'
import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'

/** Commits whose messages are looked at. */
const mostCommits = 100

/** Writes down which issues a request will close, in the transaction that changes its text. */
export async function noteClosing(
  tx: Tx,
  actor: Actor,
  project: ProjectSubject,
  id: number,
  description: string | null,
): Promise<void> {
  const issues = await findReferenced(tx, actor, project, closedBy(description ?? ''))
  await sql`
    with gone as (
      delete from merge_requests_closing_issues x
      where x.merge_request_id = ${id} and x.issue_id <> all (${issues.map((issue) => issue.id)}::bigint[]))
    insert into merge_requests_closing_issues (merge_request_id, issue_id)
    select ${id}, wanted.id from unnest(${issues.map((issue) => issue.id)}::bigint[]) wanted (id)
    on conflict do nothing`.execute(tx)
}

/** `Closes #1 and #2`: the issues that a merge would close, for its message; empty where there are none. */
export async function closingLine(
  { db }: Pick<MergeRequestServices, 'db'>,
  row: MergeRequestRow,
): Promise<string> {
  const { rows } = await sql<{ iid: number; full_path: string; project_id: number }>`
    select i.iid, p.full_path, i.project_id
    from merge_requests_closing_issues x join issues i on i.id = x.issue_id join projects p on p.id = i.project_id
    where x.merge_request_id = ${row.id} order by i.id`.execute(db.reader)
  if (rows.length === 0) return ''
  const named = rows.map(({ iid, full_path, project_id }) =>
    project_id === row.project_id ? `#${iid}` : `${full_path}#${iid}`,
  )
  const last = named.pop()!
  return `Closes ${named.length === 0 ? last : `${named.join(', ')} and ${last}`}`
}

/** All that a request and its commits say. */
export async function textsOf(
  { places }: Pick<MergeRequestServices, 'places'>,
  project: Pick<ProjectSubject, 'id' | 'storage'>,
  row: Pick<MergeRequestRow, 'title' | 'description' | 'head_sha' | 'start_sha'>,
): Promise<string> {
  const range = { revs: [row.head_sha as Oid], not: [row.start_sha as Oid], limit: mostCommits }
  const commits = await listCommits(places.of(project), range)
  return [row.title, row.description ?? '', ...commits.map(({ message }) => message)].join('\n')
}

/**
 * Closes what a merge into the default branch closes, in the name of who merged, as far as he may: what it named when
 * it was written, and what its commits name, which a squash has made one.
 */
export async function closeIssues(services: MergeRequestServices, row: MergeRequestRow): Promise<void> {
  const { db } = services
  const user = row.merge_user?.id
  const entered = user && (await enterAs<ProjectSubject>(db, projectKind, user, row.project_id))
  if (!user || !entered) return
  const { rows } = await sql<{ id: number; project_id: number }>`
    select i.id, i.project_id from merge_requests_closing_issues x join issues i on i.id = x.issue_id
    where x.merge_request_id = ${row.id} and i.state = 'opened' order by i.id`.execute(db.reader)
  const { actor, subject } = entered
  const named = closedBy(await textsOf(services, subject, row))
  const others = (await findReferenced(db.reader, actor, subject, named)).filter(
    ({ state }) => state === 'opened',
  )
  const issues = new Map([...rows, ...others].map((issue) => [issue.id, issue]))
  for (const issue of issues.values()) await closeAs(services, user, issue, { mergeRequestId: row.id })
}
