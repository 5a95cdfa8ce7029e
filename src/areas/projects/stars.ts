import { sql } from '../../kernel/db/index.ts'
import { endpoint, findUser, instance, project, userOf } from '../../access/index.ts'
import {
  Answer,
  Fields,
  ListOf,
  Optional,
  page,
  Text,
  Timestamp,
  type Endpoint,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { basicUser, BasicUser, basicUserJson, type BasicUserRow } from '../users/index.ts'
import { AnyProject, Project } from './shapes.ts'
import { filterParams, listParams } from './list-params.ts'
import { listed, ofUser } from './list-routes.ts'
import { projectsWhere, starredBy } from './listing.ts'
import type { ProjectServices } from './routes.ts'
import { showChanged } from './shown.ts'

const Starrer = Fields({ starred_since: Timestamp(), user: BasicUser })

interface StarrerRow {
  readonly starred_since: string
  readonly user: BasicUserRow
}

function starrers(search: string | undefined, input: PageInput): Read<StarrerRow> {
  const pattern = `%${(search ?? '').replace(/[\\%_]/g, '\\$&')}%`
  const found =
    search === undefined || search === ''
      ? sql``
      : sql`and (u.name ilike ${pattern} or u.username ilike ${pattern} or lower(u.public_email) = ${search.toLowerCase()})`
  // Who hides his profile is shown to himself and to administrators.
  return page(
    {
      columns: sql`s.created_at as starred_since, ${basicUserJson('u')} as "user"`,
      from: sql`
        from project_stars s join users u on u.id = s.user_id
        where s.project_id = subject.id and u.state = 'active'
          and (not u.private_profile or u.id = actor.id or actor.admin) ${found}`,
      order: sql`s.created_at desc, s.user_id desc`,
    },
    input,
  )
}

/** Projects that people like. */
export function starEndpoints(services: ProjectServices): Endpoint[] {
  const { db } = services
  const about = { on: project, may: 'star_project', answers: Project } as const

  return [
    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/star',
      whileArchived: true,
      summary: 'Mark a project as one that you like',
      description: 'Nothing changes for who has done so before: 304.',
      async handle({ actor, project }) {
        const { rows } = await sql`
          insert into project_stars (user_id, project_id) values (${userOf(actor).id}, ${project.id})
          on conflict do nothing returning 1`.execute(db.writer)
        return rows.length === 0 ? new Answer(304) : showChanged(services, actor, project.id)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/unstar',
      whileArchived: true,
      summary: 'Take the mark back',
      description: 'Nothing changes where there was none: 304.',
      async handle({ actor, project }) {
        const { rows } = await sql`
          delete from project_stars s where s.user_id = ${userOf(actor).id} and s.project_id = ${project.id}
          returning 1`.execute(db.writer)
        return rows.length === 0 ? new Answer(304) : showChanged(services, actor, project.id)
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/starrers',
      summary: 'List the users who like a project',
      on: project,
      may: 'read_project',
      anonymous: true,
      paged: true,
      params: Fields({ search: Optional(Text({ description: 'Part of the name or username' })) }),
      answers: ListOf(Starrer),
      read: ({ params, page }) => starrers(params.search, page),
      handle: async ({ rows }) =>
        rows.map(({ starred_since, user }) => ({
          starred_since,
          user: basicUser(user, services.externalUrl()),
        })),
    }),

    endpoint({
      method: 'GET',
      path: '/users/:user_id/starred_projects',
      summary: 'List the projects that a user likes',
      on: instance,
      may: 'read_users',
      anonymous: true,
      scopes: ['read_user'],
      paged: true,
      params: Fields({ ...ofUser, ...listParams, ...filterParams }),
      answers: ListOf(AnyProject),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => projectsWhere(starredBy(String(params.user_id)), params, page),
      async handle(call) {
        const { rows, params } = call
        if (rows.length === 0 && (await findUser(db.reader, String(params.user_id))) === undefined) {
          throw notFound('User')
        }
        return listed(services, rows, call)
      },
    }),
  ]
}
