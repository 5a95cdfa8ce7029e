import { sql } from 'kysely'
import { endpoint, group } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import { Fields, Flag, Id, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { conflict, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { epic, Epic } from './entities.ts'
import type { EpicServices } from './index.ts'
import { epicsOfEpic, moving, reorder } from './ordering.ts'
import * as store from './store.ts'
import { changeEpic, createEpic } from './write.ts'

/** The epics right below an epic. */
export function childEpicEndpoints(services: EpicServices): Endpoint[] {
  const { db, externalUrl } = services
  const path = '/groups/:id/epics/:epic_iid'
  const epic_iid = Id()
  const about = { on: group, plan: planOf.epics } as const
  const one = {
    ...about,
    record: true,
    read: ({ params }: { params: { epic_iid: number } }) => store.one(params.epic_iid),
  } as const
  return [
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
      async handle({ actor, rows, group: of, params }) {
        if (rows.length === 0) await store.visibleId(db.reader, actor, of.id, params.epic_iid)
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
        const given = {
          title: params.title.trim().slice(0, 255),
          confidential: params.confidential ?? above.confidential,
          parent_id: above.id,
        }
        const id = await db.transaction((tx) => createEpic(services, tx, { actor, group: of }, given))
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
        await db.transaction((tx) =>
          changeEpic(services, tx, { actor, group: of }, child.id, { parent_id: rows[0]!.id }),
        )
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
        await db.transaction((tx) => reorder(tx, epicsOfEpic, rows[0]!.id, params.child_epic_id, params))
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
        await db.transaction((tx) =>
          changeEpic(services, tx, { actor, group: of }, child.id, { parent_id: null }),
        )
        return epic((await store.find(db.reader, actor, child.id))!, {
          externalUrl: externalUrl(),
          from: of.fullPath,
        })
      },
    }),
  ]
}

async function isGroupBelow(db: Reader, id: number, groupId: number): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces n where n.id = ${id} and n.traversal_ids @> array[${groupId}::bigint]`.execute(db)
  return rows.length > 0
}
