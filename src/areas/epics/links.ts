import { sql } from 'kysely'
import { endpoint, epicVisible, epicVisibleAnywhere, find, group, may, userOf } from '../../access/index.ts'
import type { Actor } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { onConstraint, type Reader } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  page,
  Text,
  Timestamp,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { conflict, forbidden, notFound, recordNotFound } from '../../kernel/errors/index.ts'
import { epic, Epic, type EpicRow } from './entities.ts'
import type { EpicServices } from './index.ts'
import * as store from './store.ts'
import { tellBoth } from './system-notes.ts'

const LinkedEpic = Fields({
  ...Epic.properties,
  related_epic_link_id: Id(),
  link_type: Text({ description: 'relates_to, blocks or is_blocked_by' }),
  link_created_at: Timestamp(),
  link_updated_at: Timestamp(),
})

const EpicLink = Fields({ id: Id(), source_epic: Epic, target_epic: Epic, link_type: Text() })

interface LinkedRow extends EpicRow {
  readonly related_epic_link_id: number
  readonly link_type: string
  readonly link_created_at: string
  readonly link_updated_at: string
}

interface LinkRow {
  readonly id: number
  readonly source_id: number
  readonly target_id: number
  readonly link_type: string
}

/** What an epic is linked with, as far as the caller sees it; a link is told from the side of the epic. */
function linked(iid: number, input: PageInput): Read<LinkedRow> {
  const ends = (own: string, other: string, type: string) => sql`
    select k.id, ${sql.ref(`k.${other}`)} as epic_id, k.created_at, k.updated_at,
      case k.link_type when 'blocks' then ${sql.lit(type)} else k.link_type end as link_type
    from epic_links k join epics e on e.id = ${sql.ref(`k.${own}`)}
    where e.namespace_id = subject.id and e.iid = ${iid} and ${epicVisible}`
  return page(
    {
      columns: sql`
        ${store.columns()}, l.id as related_epic_link_id, l.link_type, l.created_at as link_created_at,
        l.updated_at as link_updated_at`,
      from: sql`
        from (${ends('source_id', 'target_id', 'blocks')} union all ${ends('target_id', 'source_id', 'is_blocked_by')}) l
        cross join (${store.source}) where e.id = l.epic_id and ${epicVisibleAnywhere}`,
      order: sql`l.id`,
    },
    input,
  )
}

async function linkOf(db: Reader, epicId: number, id: number): Promise<LinkRow | undefined> {
  const { rows } = await sql<LinkRow>`
    select k.id, k.source_id, k.target_id, k.link_type from epic_links k
    where k.id = ${id} and ${epicId} in (k.source_id, k.target_id)`.execute(db)
  return rows[0]
}

/** Links between epics, of any groups: related ones, and those that wait for others. */
export function epicLinkEndpoints({ db, events, externalUrl }: EpicServices): Endpoint[] {
  const path = '/groups/:id/epics/:epic_iid/related_epics'
  const epic_iid = Id()
  const about = { on: group, plan: planOf.epics } as const
  const one = {
    ...about,
    record: true,
    read: ({ params }: { params: { epic_iid: number } }) => store.one(params.epic_iid),
  } as const

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
      ...about,
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
      ...one,
      method: 'POST',
      path,
      summary: 'Link an epic with another one',
      description: 'The caller is able to change both.',
      may: 'admin_epic',
      params: Fields({
        epic_iid,
        target_group_id: Text({ description: 'Id or full path' }),
        target_epic_iid: Id(),
        link_type: OneOf(['relates_to', 'blocks', 'is_blocked_by'], { default: 'relates_to' }),
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
        const [source, end] = params.link_type === 'is_blocked_by' ? [other, own] : [own, other]
        const type = params.link_type === 'relates_to' ? 'relates_to' : 'blocks'
        const made = await db.transaction(async (tx) => {
          const { rows: links } = await sql<LinkRow>`
            insert into epic_links as k (source_id, target_id, link_type) values (${source}, ${end}, ${type})
            returning k.id, k.source_id, k.target_id, k.link_type`
            .execute(tx)
            .catch(onConstraint('epic_links_pair', () => conflict('Epic(s) already assigned')))
          const user = userOf(actor).id
          await tellBoth(tx, user, [source, end], (place, name) => ({
            action: 'relate',
            body: `marked this epic as ${relations[type][place]} ${name}`,
          }))
          await events.announce(tx, 'epic.link', { userId: user, payload: { action: 'add', ...links[0]! } })
          return links[0]!
        })
        return shown(actor, made)
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: `${path}/:related_epic_link_id`,
      summary: 'Remove a link of an epic',
      may: 'admin_epic',
      status: 200,
      params: Fields({ epic_iid, related_epic_link_id: Id() }),
      answers: EpicLink,
      async handle({ actor, rows, params }) {
        const link = await linkOf(db.reader, rows[0]!.id, params.related_epic_link_id)
        const answer = link && (await shown(actor, link))
        if (link === undefined || answer === undefined) throw recordNotFound()
        await db.transaction(async (tx) => {
          await sql`delete from epic_links k where k.id = ${link.id}`.execute(tx)
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
