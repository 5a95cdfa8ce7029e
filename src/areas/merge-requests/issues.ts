import { sql } from 'kysely'
import {
  actorRow,
  enterAs,
  issueVisibleAnywhere,
  may,
  project as projectKind,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Actor } from '../../access/index.ts'
import type { Reader, Tx } from '../../kernel/db/index.ts'
import { changeIssue, issueColumns, issueSource, type IssueRow } from '../issues/index.ts'
import type { MergeRequestRow } from './rows.ts'
import type { MergeRequestServices } from './services.ts'

const verbs = /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)/
const reference = /(?:[\w.-]+(?:\/[\w.-]+)*)?#\d{1,15}\b/
const closing = new RegExp(
  `${verbs.source}:?\\s+((?:issues?\\s+)?${reference.source}(?:(?:\\s*,\\s*and\\s+|\\s*,\\s*|\\s+and\\s+)${reference.source})*)`,
  'gi',
)
const mostReferences = 100

/** An issue as a text names it: `path` null in the project itself. */
export interface IssueReference {
  readonly path: string | null
  readonly iid: number
}

function referencesIn(text: string): IssueReference[] {
  const found = new Map<string, IssueReference>()
  for (const [written] of text.matchAll(new RegExp(`(?<![\\w/&])${reference.source}`, 'g'))) {
    const at = written.lastIndexOf('#')
    const path = at === 0 ? null : written.slice(0, at).toLowerCase()
    found.set(written.toLowerCase(), { path, iid: Number(written.slice(at + 1)) })
    if (found.size >= mostReferences) break
  }
  return [...found.values()]
}

/** The issues that a text says it closes: `Closes #1 and group/project#2`. */
export function closedBy(text: string): IssueReference[] {
  return referencesIn([...text.matchAll(closing)].map(([, named]) => named).join(' '))
}

/** All issues that a text names. */
export function mentionedIn(text: string): IssueReference[] {
  return referencesIn(text)
}

/** The issues of these references that the caller may see. */
export async function findIssues(
  db: Reader,
  actor: Actor,
  project: { readonly fullPath: string; readonly path: string },
  references: readonly IssueReference[],
): Promise<IssueRow[]> {
  if (references.length === 0) return []
  const namespace = project.fullPath.slice(0, project.fullPath.lastIndexOf('/'))
  const wanted = references.map(({ path, iid }) => ({
    path: fullPathOf(path, project.fullPath, namespace).toLowerCase(),
    iid,
  }))
  const { rows } = await sql<{ row: IssueRow }>`
    select to_json(found) as row from (
      select ${issueColumns()} from ${actorRow(actor)} cross join (${issueSource})
        join jsonb_to_recordset(${JSON.stringify(wanted)}) wanted (path text, iid bigint)
          on wanted.iid = i.iid and wanted.path = lower(p.full_path)
      where ${issueVisibleAnywhere} order by i.id) found`.execute(db)
  return rows.map(({ row }) => row)
}

/** A project of the same group may be named by its own name alone. */
function fullPathOf(path: string | null, own: string, namespace: string): string {
  if (path === null) return own
  return path.includes('/') ? path : `${namespace}/${path}`
}

/** Writes down which issues a request will close, in the transaction that changes its text. */
export async function noteClosing(
  tx: Tx,
  actor: Actor,
  project: ProjectSubject,
  id: number,
  description: string | null,
): Promise<void> {
  const issues = await findIssues(tx, actor, project, closedBy(description ?? ''))
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
  const { db, events } = services
  const user = row.merge_user?.id
  if (user === undefined) return
  const { rows } = await sql<{ id: number; project_id: number }>`
    select i.id, i.project_id from merge_requests_closing_issues x join issues i on i.id = x.issue_id
    where x.merge_request_id = ${row.id} and i.state = 'opened' order by i.id`.execute(db.reader)
  for (const { id, project_id } of rows) {
    const entered = await enterAs<ProjectSubject>(db, projectKind, user, project_id)
    if (entered === undefined || !may(entered.actor, 'admin_issue', entered.subject)) continue
    const writing = { actor: entered.actor, project: entered.subject }
    await db.transaction((tx) =>
      changeIssue({ events }, tx, writing, id, {
        state_event: 'close',
        closedBy: { mergeRequestId: row.id },
      }),
    )
  }
}
