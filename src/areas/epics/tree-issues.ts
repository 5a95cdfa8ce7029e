import { endpoint, epicVisible, issueVisibleAnywhere, userOf } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { Fields, Id, Int, ListOf, page, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound, recordNotFound } from '../../kernel/errors/index.ts'
import {
  findIssue,
  issue,
  issueView,
  Issue,
  issueColumns,
  issueSource,
  tellOfEpic,
  type IssueRow,
} from '../issues/index.ts'
import { aboutEpic, aboutEpics, epic_iid, epicsPath, isIn } from './about.ts'
import { epic, Epic } from './entities.ts'
import type { EpicServices } from './index.ts'
import { issuesOfEpic, moving, reorder } from './ordering.ts'
import * as store from './store.ts'

const EpicIssue = Fields({ ...Issue.properties, epic_issue_id: Id(), relative_position: Int() })
const Assignment = Fields({ id: Id(), epic: Epic, issue: Issue })

interface EpicIssueRow extends IssueRow {
  readonly epic_issue_id: number
  readonly relative_position: number
}

/** The issues of an epic. An issue is in one at most, so it is known there by its own id. */
export function epicIssueEndpoints(services: EpicServices): Endpoint[] {
  const { db } = services
  const path = `${epicsPath}/:epic_iid`
  return [
    endpoint({
      ...aboutEpics,
      method: 'GET',
      path: `${path}/issues`,
      summary: 'List the issues of an epic that the caller sees',
      may: 'read_epic',
      anonymous: true,
      paged: true,
      params: Fields({ epic_iid }),
      answers: ListOf(EpicIssue),
      refuses: { 404: 'No such epic' },
      read: ({ params, page: input }) =>
        page<EpicIssueRow>(
          {
            columns: sql`${issueColumns()}, i.id as epic_issue_id, i.epic_position as relative_position`,
            from: sql`
              from (select e.id from epics e where e.namespace_id = subject.id and e.iid = ${params.epic_iid}
                and ${epicVisible}) holder
              cross join ${issueSource} where i.epic_id = holder.id and ${issueVisibleAnywhere}`,
            order: sql`i.epic_position, i.id`,
          },
          input,
        ),
      async handle({ actor, rows, group: of, params }) {
        if (rows.length === 0) await store.visibleId(db.reader, actor, of.id, params.epic_iid)
        return rows.map((row) => ({
          ...row,
          ...issue(row, issueView(services, of.fullPath)),
        }))
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'POST',
      path: `${path}/issues/:issue_id`,
      summary: 'Add an issue to an epic',
      description: 'It leaves the epic that it was in.',
      may: 'admin_epic',
      params: Fields({ epic_iid, issue_id: Id() }),
      answers: Assignment,
      refuses: { 404: 'No such issue that the caller sees in the group' },
      async handle({ actor, rows, group: of, params }) {
        const found = await findIssue(db.reader, actor, params.issue_id)
        if (found === undefined || !(await isIn(db.reader, ofProject(found.project_id), of.id)))
          throw notFound('Issue')
        await db.transaction((tx) => setEpic(tx, userOf(actor).id, found.id, rows[0]!.id))
        const view = { ...issueView(services), from: of.fullPath }
        return {
          id: found.id,
          epic: epic(rows[0]!, view),
          issue: issue((await findIssue(db.reader, actor, found.id))!, view),
        }
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'PUT',
      path: `${path}/issues/:issue_id`,
      summary: 'Put an issue of an epic before or behind another one',
      may: 'admin_epic',
      params: Fields({ epic_iid, issue_id: Id(), ...moving }),
      answers: ListOf(EpicIssue),
      refuses: { 404: 'No such issue in the epic' },
      async handle({ actor, rows, group: of, params }) {
        const { id } = rows[0]!
        await db.transaction((tx) => reorder(tx, issuesOfEpic, id, params.issue_id, params))
        const { rows: ids } = await sql<{ id: number; position: number }>`
          select i.id, i.epic_position as position from issues i where i.epic_id = ${id}
          order by i.epic_position, i.id limit 100`.execute(db.reader)
        const view = { ...issueView(services), from: of.fullPath }
        const shown = await Promise.all(
          ids.map(async (place) => ({ place, row: await findIssue(db.reader, actor, place.id) })),
        )
        return shown.flatMap(({ place, row }) =>
          row === undefined
            ? []
            : [{ ...issue(row, view), epic_issue_id: place.id, relative_position: place.position }],
        )
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'DELETE',
      path: `${path}/issues/:issue_id`,
      summary: 'Take an issue out of an epic',
      may: 'admin_epic',
      status: 200,
      params: Fields({ epic_iid, issue_id: Id() }),
      answers: Assignment,
      refuses: { 404: 'No such issue in the epic' },
      async handle({ actor, rows, group: of, params }) {
        const found = await findIssue(db.reader, actor, params.issue_id)
        if (found?.epic?.id !== rows[0]!.id) throw recordNotFound()
        await db.transaction((tx) => setEpic(tx, userOf(actor).id, found.id, null))
        const view = { ...issueView(services), from: of.fullPath }
        return { id: found.id, epic: epic(rows[0]!, view), issue: issue(found, view) }
      },
    }),
  ]
}

const ofProject = (id: number) => sql`(select p.namespace_id from projects p where p.id = ${id})`

/** Last of the epic's issues. */
async function setEpic(tx: Tx, userId: number, issueId: number, epicId: number | null): Promise<void> {
  const { rows } = await sql<{ from: number | null }>`
    update issues i set epic_id = ${epicId}::bigint, updated_at = now(), epic_position = coalesce((
      select max(o.epic_position) + 1 from issues o where o.epic_id = ${epicId}::bigint), 0)
    from (select before.id, before.epic_id from issues before where before.id = ${issueId} for update) before
    where i.id = before.id returning before.epic_id as "from"`.execute(tx)
  await tellOfEpic(tx, userId, issueId, { from: rows[0]?.from ?? null, to: epicId })
}
