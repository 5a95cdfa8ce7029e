import { sql, type RawBuilder } from 'kysely'
import { endpoint, epicVisible, group, issueVisibleAnywhere, userOf } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Optional,
  page,
  Text,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { badRequest, conflict, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { findIssue, issue, Issue, issueColumns, issueSource, type IssueRow } from '../issues/index.ts'
import { epic, Epic } from './entities.ts'
import type { EpicServices } from './index.ts'
import { parentOf } from './routes.ts'
import * as store from './store.ts'

const EpicIssue = Fields({ ...Issue.properties, epic_issue_id: Id(), relative_position: Int() })
const Assignment = Fields({ id: Id(), epic: Epic, issue: Issue })

interface EpicIssueRow extends IssueRow {
  readonly epic_issue_id: number
  readonly relative_position: number
}

const moving = {
  move_before_id: Optional(Id()),
  move_after_id: Optional(Id()),
}

/** What an epic holds: issues, and other epics. An issue is in one epic at most, so it is known there by its own id. */
export function treeEndpoints(services: EpicServices): Endpoint[] {
  const { db, externalUrl } = services
  const path = '/groups/:id/epics/:epic_iid'
  const epic_iid = Id()
  const about = { on: group, plan: 'ultimate' } as const
  const one = {
    ...about,
    record: true,
    read: ({ params }: { params: { epic_iid: number } }) => store.one(params.epic_iid),
  } as const
  const exists = async (groupId: number, iid: number): Promise<void> => {
    const { rows } = await sql`
      select from epics e where e.namespace_id = ${groupId} and e.iid = ${iid}`.execute(db.reader)
    if (rows.length === 0) throw recordNotFound()
  }

  const issuesPart: Endpoint[] = [
    endpoint({
      ...about,
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
      async handle({ rows, group: of, params }) {
        if (rows.length === 0) await exists(of.id, params.epic_iid)
        return rows.map((row) => ({
          ...row,
          ...issue(row, { externalUrl: externalUrl(), from: of.fullPath }),
        }))
      },
    }),

    endpoint({
      ...one,
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
        if (found === undefined || !(await isBelow(db.reader, found.project_id, of.id)))
          throw notFound('Issue')
        await db.transaction((tx) => setEpic(tx, found.id, rows[0]!.id))
        const view = { externalUrl: externalUrl(), from: of.fullPath }
        return {
          id: found.id,
          epic: epic(rows[0]!, view),
          issue: issue((await findIssue(db.reader, actor, found.id))!, view),
        }
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/issues/:issue_id`,
      summary: 'Put an issue of an epic before or behind another one',
      may: 'admin_epic',
      params: Fields({ epic_iid, issue_id: Id(), ...moving }),
      answers: ListOf(EpicIssue),
      refuses: { 404: 'No such issue in the epic' },
      async handle({ actor, rows, group: of, params }) {
        const { id } = rows[0]!
        await db.transaction((tx) =>
          reorder(
            tx,
            { table: sql`issues`, parent: sql`epic_id`, position: sql`epic_position` },
            id,
            params.issue_id,
            params,
          ),
        )
        const { rows: ids } = await sql<{ id: number; position: number }>`
          select i.id, i.epic_position as position from issues i where i.epic_id = ${id}
          order by i.epic_position, i.id limit 100`.execute(db.reader)
        const view = { externalUrl: externalUrl(), from: of.fullPath }
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
      ...one,
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
        await db.transaction((tx) => setEpic(tx, found.id, null))
        const view = { externalUrl: externalUrl(), from: of.fullPath }
        return { id: found.id, epic: epic(rows[0]!, view), issue: issue(found, view) }
      },
    }),
  ]

  const epicsPart: Endpoint[] = [
    endpoint({
      ...about,
      method: 'GET',
      path: `${path}/epics`,
      summary: 'List the epics right below an epic',
      may: 'read_epic',
      anonymous: true,
      paged: true,
      params: Fields({ epic_iid }),
      answers: ListOf(Epic),
      refuses: { 404: 'No such epic' },
      read: ({ params, page: input }) => store.children(params.epic_iid, input),
      async handle({ rows, group: of, params }) {
        if (rows.length === 0) await exists(of.id, params.epic_iid)
        return rows.map((row) => epic(row, { externalUrl: externalUrl(), from: of.fullPath }))
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/epics`,
      summary: 'Create an epic below another one',
      may: 'admin_epic',
      params: Fields({
        epic_iid,
        title: Text({ blank: false, maxLength: 255 }),
        confidential: Optional(Flag()),
      }),
      answers: Epic,
      async handle({ actor, rows, group: of, params }) {
        const above = rows[0]!
        const id = await db.transaction(async (tx) =>
          store.create(tx, {
            groupId: of.id,
            authorId: userOf(actor).id,
            title: params.title.trim().slice(0, 255),
            description: null,
            confidential: params.confidential ?? above.confidential,
            color: null,
            parentId: await parentOf(services, tx, actor, null, above.id),
            createdAt: null,
          }),
        )
        return epic((await store.find(db.reader, actor, id))!, {
          externalUrl: externalUrl(),
          from: of.fullPath,
        })
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: `${path}/epics/:child_epic_id`,
      summary: 'Put an epic below another one',
      may: 'admin_epic',
      params: Fields({ epic_iid, child_epic_id: Id() }),
      answers: Epic,
      refuses: { 404: 'No such epic that the caller sees in the group' },
      async handle({ actor, rows, group: of, params }) {
        const child = await store.find(db.reader, actor, params.child_epic_id)
        if (child === undefined || !(await isGroupBelow(db.reader, child.group_id, of.id)))
          throw notFound('Epic')
        if (child.parent?.id === rows[0]!.id) throw conflict('Epic(s) already assigned')
        await db.transaction(async (tx) => {
          await store.lock(tx, child.id)
          await store.update(tx, child.id, {
            parent_id: await parentOf(services, tx, actor, child.id, rows[0]!.id),
          })
        })
        return epic((await store.find(db.reader, actor, child.id))!, {
          externalUrl: externalUrl(),
          from: of.fullPath,
        })
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/epics/:child_epic_id`,
      summary: 'Put an epic before or behind another one below the same epic',
      may: 'admin_epic',
      params: Fields({ epic_iid, child_epic_id: Id(), ...moving }),
      answers: Epic,
      refuses: { 404: 'No such epic below the epic' },
      async handle({ actor, rows, group: of, params }) {
        await db.transaction((tx) =>
          reorder(
            tx,
            { table: sql`epics`, parent: sql`parent_id`, position: sql`relative_position` },
            rows[0]!.id,
            params.child_epic_id,
            params,
          ),
        )
        const row = await store.find(db.reader, actor, params.child_epic_id)
        if (row === undefined) throw recordNotFound()
        return epic(row, { externalUrl: externalUrl(), from: of.fullPath })
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/epics/:child_epic_id`,
      summary: 'Take an epic from below another one',
      may: 'admin_epic',
      status: 200,
      params: Fields({ epic_iid, child_epic_id: Id() }),
      answers: Epic,
      refuses: { 404: 'No such epic below the epic' },
      async handle({ actor, rows, group: of, params }) {
        const child = await store.find(db.reader, actor, params.child_epic_id)
        if (child?.parent?.id !== rows[0]!.id) throw recordNotFound()
        await db.transaction((tx) => store.update(tx, child.id, { parent_id: null }))
        return epic((await store.find(db.reader, actor, child.id))!, {
          externalUrl: externalUrl(),
          from: of.fullPath,
        })
      },
    }),
  ]
  return [...issuesPart, ...epicsPart]
}

type Db = EpicServices['db']['reader']

async function isBelow(db: Db, projectId: number, groupId: number): Promise<boolean> {
  const { rows } = await sql`
    select from projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${projectId} and n.traversal_ids @> array[${groupId}::bigint]`.execute(db)
  return rows.length > 0
}

async function isGroupBelow(db: Db, id: number, groupId: number): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces n where n.id = ${id} and n.traversal_ids @> array[${groupId}::bigint]`.execute(db)
  return rows.length > 0
}

/** Last of the epic's issues. */
async function setEpic(tx: Tx, issueId: number, epicId: number | null): Promise<void> {
  await sql`
    update issues i set epic_id = ${epicId}::bigint, updated_at = now(), epic_position = coalesce((
      select max(o.epic_position) + 1 from issues o where o.epic_id = ${epicId}::bigint), 0)
    where i.id = ${issueId}`.execute(tx)
}

interface Ordered {
  readonly table: RawBuilder<unknown>
  readonly parent: RawBuilder<unknown>
  readonly position: RawBuilder<unknown>
}

/** What one epic holds is short: all of it is numbered anew, with the moved one in its place. */
async function reorder(
  tx: Tx,
  { table, parent, position }: Ordered,
  parentId: number,
  id: number,
  { move_before_id: before, move_after_id: after }: { move_before_id?: number; move_after_id?: number },
): Promise<void> {
  const other = after ?? before
  if (other === undefined || other === id) throw badRequest()
  const { rows } = await sql<{ id: number }>`
    select t.id from ${table} t where t.${parent} = ${parentId} order by t.${position}, t.id for update`.execute(
    tx,
  )
  const ids = rows.map((row) => row.id)
  if (!ids.includes(id) || !ids.includes(other)) throw recordNotFound()
  const rest = ids.filter((each) => each !== id)
  rest.splice(rest.indexOf(other) + (after === undefined ? 0 : 1), 0, id)
  await sql`
    update ${table} t set ${position} = o.place
    from unnest(${rest}::bigint[]) with ordinality o (id, place) where t.id = o.id`.execute(tx)
}
