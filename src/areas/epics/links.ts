import { sql } from '../../kernel/db/index.ts'
import { endpoint, epicVisible, epicVisibleAnywhere, find, group, may, userOf } from '../../access/index.ts'
import type { Actor } from '../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  page,
  Text,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { conflict, forbidden, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import {
  addLink,
  findLink,
  linkColumns,
  linkEnds,
  LinkFields,
  linkTypes,
  removeLink,
  type LinkFieldsRow,
  type LinkRow,
} from '../noteables/index.ts'
import { aboutEpic, aboutEpics, epic_iid, epicsPath } from './about.ts'
import { epic, Epic, type EpicRow } from './entities.ts'
import type { EpicServices } from './index.ts'
import * as store from './store.ts'
import { tellBoth } from './system-notes.ts'

const LinkedEpic = Fields({
  ...Epic.properties,
  related_epic_link_id: Id(),
  ...LinkFields,
})

const EpicLink = Fields({ id: Id(), source_epic: Epic, target_epic: Epic, link_type: Text() })

interface LinkedRow extends EpicRow, LinkFieldsRow {
  readonly related_epic_link_id: number
}

/** What an epic is linked with, as far as the caller sees it; a link is told from the side of the epic. */
function linked(iid: number, input: PageInput): Read<LinkedRow> {
  const ends = linkEnds('epic_links', {
    things: sql`epics e`,
    id: sql`e.id`,
    where: sql`e.namespace_id = subject.id and e.iid = ${iid} and ${epicVisible}`,
  })
  return page(
    {
      columns: sql`
        ${store.columns()}, l.id as related_epic_link_id, ${linkColumns}`,
      from: sql`
        from ${ends} l
        cross join (${store.source}) where e.id = l.end_id and ${epicVisibleAnywhere}`,
      order: sql`l.id`,
    },
    input,
  )
}

/** Links between epics, of any groups: related ones, and those that wait for others. */
export function epicLinkEndpoints({ db, events, externalUrl }: EpicServices): Endpoint[] {
  const path = `${epicsPath}/:epic_iid/related_epics`

  /** Both ends, or undefined where the caller may not see one of them. */
  const shown = async (actor: Actor, link: LinkRow): Promise<unknown> => {
    const [source, target] = await Promise.all([
      store.find(db.reader, actor, link.source_id),
      store.find(db.reader, actor, link.target_id),
    ])
    if (source === undefined || target === undefined) return undefined
    const view = (row: EpicRow) => epic(row, { externalUrl: externalUrl(), from: row.full_path })
    return { id: link.id, source_epic: view(source), target_epic: view(target), link_type: link.link_type }
  }

  return [
    endpoint({
      ...aboutEpics,
      method: 'GET',
      path,
      summary: 'List what an epic is linked with',
      may: 'read_epic',
      anonymous: true,
      paged: true,
      params: Fields({ epic_iid }),
      answers: ListOf(LinkedEpic),
      refuses: { 404: 'No such epic that the caller may see: `404 Not found`' },
      read: ({ params, page: input }) => linked(params.epic_iid, input),
      async handle({ actor, rows, group: of, params }) {
        if (rows.length === 0) await store.visibleId(db.reader, actor, of.id, params.epic_iid)
        return rows.map((row) => ({
          ...row,
          ...epic(row, { externalUrl: externalUrl(), from: of.fullPath }),
        }))
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'POST',
      path,
      summary: 'Link an epic with another one',
      description: 'The caller is able to change both.',
      may: 'admin_epic',
      params: Fields({
        epic_iid,
        target_group_id: Text({ description: 'Id or full path' }),
        target_epic_iid: Id(),
        link_type: OneOf(linkTypes, { default: 'relates_to' }),
      }),
      answers: EpicLink,
      refuses: { 404: 'No such group or epic', 409: 'They are linked already' },
      async handle({ actor, params, rows }) {
        const target = await find(db.reader, group, actor, params.target_group_id)
        if (target === undefined) throw notFound('Group')
        const other = await store.visibleId(db.reader, actor, target.id, params.target_epic_iid)
        if (!may(actor, 'admin_epic', target)) throw forbidden()
        const own = rows[0]!.id
        if (own === other) throw conflict('Epic cannot be related to itself')
        const made = await db.transaction(async (tx) => {
          const ends = { own, other, type: params.link_type }
          const link = await addLink(tx, 'epic_links', ends, 'Epic(s) already assigned')
          const user = userOf(actor).id
          const relation = relations[link.link_type === 'blocks' ? 'blocks' : 'relates_to']
          await tellBoth(tx, user, [link.source_id, link.target_id], (place, name) => ({
            action: 'relate',
            body: `marked this epic as ${relation[place]} ${name}`,
          }))
          await events.announce(tx, 'epic.link', { userId: user, payload: { action: 'add', ...link } })
          return link
        })
        return shown(actor, made)
      },
    }),

    endpoint({
      ...aboutEpic,
      method: 'DELETE',
      path: `${path}/:related_epic_link_id`,
      summary: 'Remove a link of an epic',
      may: 'admin_epic',
      status: 200,
      params: Fields({ epic_iid, related_epic_link_id: Id() }),
      answers: EpicLink,
      async handle({ actor, rows, params }) {
        const link = await findLink(db.reader, 'epic_links', rows[0]!.id, params.related_epic_link_id)
        const answer = link && (await shown(actor, link))
        if (link === undefined || answer === undefined) throw recordNotFound()
        await db.transaction(async (tx) => {
          await removeLink(tx, 'epic_links', link.id)
          const user = userOf(actor).id
          await tellBoth(tx, user, [link.source_id, link.target_id], (_, name) => ({
            action: 'unrelate',
            body: `removed the relation with ${name}`,
          }))
          await events.announce(tx, 'epic.link', { userId: user, payload: { action: 'remove', ...link } })
        })
        return answer
      },
    }),
  ]
}

/** What each end says of the other: of `one`, which is the source, and of `other`. */
const relations = {
  relates_to: { one: 'related to', other: 'related to' },
  blocks: { one: 'blocking', other: 'blocked by' },
} as const
