import {
  actorRow,
  enterAs,
  issueVisibleAnywhere,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { IssueRow } from './entities.ts'
import { issueColumns, issueSource } from './rows.ts'
import { changeIssue, type IssueChange } from './write.ts'

/*
 * Issues as the texts of others name them: descriptions of merge requests, messages of commits.
 */

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

/** All issues that a text names. */
export function mentionedIn(text: string): IssueReference[] {
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
  return mentionedIn([...text.matchAll(closing)].map(([, named]) => named).join(' '))
}

/** The issues of these references that the caller may see. */
export async function findReferenced(
  db: Reader,
  actor: Actor,
  project: { readonly fullPath: string },
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

/** Closes an issue in the name of a user, if he may and its project lets others close its issues; `by` is the commit or the merge request that closes it. */
export async function closeAs(
  { db, events }: { readonly db: Database; readonly events: Events },
  userId: number,
  issue: { readonly id: number; readonly project_id: number },
  by: NonNullable<IssueChange['closedBy']>,
): Promise<void> {
  const entered = await enterAs<ProjectSubject>(db, projectKind, userId, issue.project_id)
  if (entered === undefined || !may(entered.actor, 'admin_issue', entered.subject)) return
  if (entered.subject.settings['autoclose_referenced_issues'] === false) return
  const writing = { actor: entered.actor, project: entered.subject }
  await db.transaction((tx) =>
    changeIssue({ events }, tx, writing, issue.id, { state_event: 'close', closedBy: by }),
  )
}
