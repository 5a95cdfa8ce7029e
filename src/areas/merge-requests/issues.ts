import { sql } from 'kysely'
import type { Actor, ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { closeAs, closedBy, findReferenced } from '../issues/index.ts'
import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'

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

/** Closes what a merge into the default branch closes, in the name of who merged, as far as he may. */
export async function closeIssues(services: MergeRequestServices, row: MergeRequestRow): Promise<void> {
  const user = row.merge_user?.id
  if (user === undefined) return
  const { rows } = await sql<{ id: number; project_id: number }>`
    select i.id, i.project_id from merge_requests_closing_issues x join issues i on i.id = x.issue_id
    where x.merge_request_id = ${row.id} and i.state = 'opened' order by i.id`.execute(services.db.reader)
  for (const issue of rows) await closeAs(services, user, issue, { mergeRequestId: row.id })
}
