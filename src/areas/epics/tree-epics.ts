import { sql } from '../../kernel/db/index.ts'
import { endpoint } from '../../access/index.ts'
import { Fields, Flag, Id, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { conflict, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { aboutEpic, aboutEpics, epic_iid, epicsPath, isIn } from './about.ts'
import { epic, Epic, type EpicRow } from './entities.ts'
import type { EpicServices } from './index.ts'
import { epicsOfEpic, moving, reorder } from './ordering.ts'
import * as store from './store.ts'
import { changeEpic, createEpic } from './write.ts'

/** The epics right below an epic. */
export function childEpicEndpoints(services: EpicServices): Endpoint[] {
  const { db, externalUrl } = services
  const shown = (row: EpicRow, { fullPath: from }: { readonly fullPath: string }) =>
    epic(row, { externalUrl: externalUrl(), from })
  const path = `${epicsPath}/:epic_iid`
  return [
    endpoint({
      ...aboutEpics,
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
        return rows.map((row) => shown(row, of))
      },
    }),

    endpoint({
      ...aboutEpic,
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
        return shown((await store.find(db.reader, actor, id))!, of)
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'POST',
      path: `${path}/epics/:child_epic_id`,
      summary: 'Put an epic below another one',
      may: 'admin_epic',
      params: Fields({ epic_iid, child_epic_id: Id() }),
      answers: Epic,
      refuses: { 404: 'No such epic that the caller sees in the group' },
      async handle({ actor, rows, group: of, params }) {
        const child = await store.find(db.reader, actor, params.child_epic_id)
        if (child === undefined || !(await isIn(db.reader, sql`${child.group_id}`, of.id)))
          throw notFound('Epic')
        if (child.parent?.id === rows[0]!.id) throw conflict('Epic(s) already assigned')
        await db.transaction((tx) =>
          changeEpic(services, tx, { actor, group: of }, child.id, { parent_id: rows[0]!.id }),
        )
        return shown((await store.find(db.reader, actor, child.id))!, of)
      },
    }),

    endpoint({
      ...aboutEpic,
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
        return shown(row, of)
      },
    }),

    endpoint({
      ...aboutEpic,
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
        return shown((await store.find(db.reader, actor, child.id))!, of)
      },
    }),
  ]
}
