import { endpoint, group, project, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { pictureEndpoints } from './picture-routes.ts'
import { checkUrls, placeholdersOf, rendered, type BadgeUrls } from './rendered.ts'
import * as store from './store.ts'

const urls = {
  link_url: Text({
    blank: false,
    description: 'Where the badge leads; placeholders like %{project_path} are filled in',
  }),
  image_url: Text({ blank: false, description: 'Its picture' }),
}
const shownUrls = { ...urls, rendered_link_url: Text(), rendered_image_url: Text() }
const Badge = Fields({
  name: Nullable(Text()),
  ...shownUrls,
  id: Id(),
  kind: OneOf(['project', 'group'], {}),
})
const RenderedBadge = Fields(shownUrls)

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

export { checkUrls as checkBadgeUrls } from './rendered.ts'

export interface BadgeServices {
  readonly db: Database
  readonly places: RepositoryPlaces
}

/** Badges: small pictures with links, by which projects tell how they are. */
export function badges(services: BadgeServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...badgesOf(services, 'project'),
      ...badgesOf(services, 'group'),
      ...pictureEndpoints(services),
    ],
  }
}

function badgesOf({ db, places }: BadgeServices, place: store.BadgePlace): Endpoint[] {
  const path = `/${place}s/:id/badges`
  const on = place === 'project' ? project : group
  const reading = place === 'project' ? 'read_project' : 'read_group'
  const writing = place === 'project' ? 'admin_project' : 'admin_group'
  const named = { on, checks } as const
  const one = {
    ...named,
    path: `${path}/:badge_id`,
    record: true,
    read: ({ params }: { params: { badge_id: number } }) => store.one(place, params.badge_id),
  } as const

  type Subject = ProjectSubject | GroupSubject
  const filling = async (subject: Subject, of: readonly BadgeUrls[]) =>
    subject.kind === 'project' ? placeholdersOf(places, subject, of) : undefined
  const shown = async (subject: Subject, rows: readonly store.BadgeRow[]) => {
    const placeholders = await filling(subject, rows)
    return rows.map((row) => ({ ...row, ...rendered(row, placeholders) }))
  }
  const subjectOf = (call: { readonly project?: Subject; readonly group?: Subject }): Subject =>
    call.project ?? call.group!
  /** A project shows the badges of its groups, but has no say in them. */
  const requireOwn = (row: store.BadgeRow, what: string): void => {
    if (row.kind !== place) throw forbidden(`To ${what} a Group badge please use the Group endpoint`)
  }

  return [
    endpoint({
      ...named,
      method: 'GET',
      path,
      summary: `List the badges of a ${place}`,
      may: reading,
      anonymous: true,
      paged: true,
      params: Fields({ name: Optional(Text()) }),
      answers: ListOf(Badge),
      read: ({ params, page }) => store.list(place, params.name, page),
      handle: (call) => shown(subjectOf(call), call.rows),
    }),

    endpoint({
      ...named,
      method: 'GET',
      path: `${path}/render`,
      summary: 'Tell what the addresses of a badge would come to',
      may: writing,
      params: Fields(urls),
      answers: RenderedBadge,
      async handle(call) {
        const { link_url, image_url } = call.params
        const given = { link_url, image_url }
        checkUrls(given)
        return { ...given, ...rendered(given, await filling(subjectOf(call), [given])) }
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      summary: `Get a badge of a ${place}`,
      may: reading,
      anonymous: true,
      params: Fields({ badge_id: Id() }),
      answers: Badge,
      handle: async (call) => (await shown(subjectOf(call), call.rows))[0],
    }),

    endpoint({
      ...named,
      method: 'POST',
      path,
      summary: `Add a badge to a ${place}`,
      may: writing,
      params: Fields({ ...urls, name: Optional(Text({ maxLength: 255 })) }),
      answers: Badge,
      refuses: { 400: 'An address is none' },
      async handle(call) {
        const subject = subjectOf(call)
        const { link_url, image_url, name = null } = call.params
        checkUrls({ link_url, image_url })
        const values = { link_url, image_url, name }
        const owner = { project: null, group: null, [place]: subject.id }
        const id = await db.transaction((tx) => store.create(tx, owner, values))
        return (await shown(subject, [{ id, kind: place, ...values }]))[0]
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: `Change a badge of a ${place}`,
      may: writing,
      params: Fields({
        badge_id: Id(),
        link_url: Optional(urls.link_url),
        image_url: Optional(urls.image_url),
        name: Optional(Text({ maxLength: 255 })),
      }),
      answers: Badge,
      refuses: { 400: 'An address is none' },
      async handle(call) {
        const [row] = call.rows as [store.BadgeRow]
        requireOwn(row, 'change')
        const { link_url = row.link_url, image_url = row.image_url, name = row.name } = call.params
        checkUrls({ link_url, image_url })
        const values = { link_url, image_url, name }
        await store.change(db.writer, row.id, values)
        return (await shown(subjectOf(call), [{ ...row, ...values }]))[0]
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      summary: `Remove a badge from a ${place}`,
      may: writing,
      params: Fields({ badge_id: Id() }),
      answers: null,
      async handle({ rows }) {
        requireOwn(rows[0]!, 'delete')
        await store.remove(db.writer, rows[0]!.id)
      },
    }),
  ]
}
