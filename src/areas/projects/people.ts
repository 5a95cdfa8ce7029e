import { sql } from '../../kernel/db/index.ts'
import { endpoint, isAdministrator, project } from '../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Optional,
  page,
  rows,
  Text,
  Timestamp,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import { basicUser, BasicUser, basicUserJson, type BasicUserRow } from '../users/index.ts'
import type { ProjectServices } from './routes.ts'

/** Who works on a project, and where it lies. */
export function peopleEndpoints({ externalUrl, places }: ProjectServices): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/users',
      summary: 'List the users who are members of a project in any way',
      on: project,
      may: 'read_project',
      anonymous: true,
      paged: true,
      params: Fields({
        search: Optional(Text({ description: 'Part of the name or username' })),
        skip_users: Optional(
          ListOf(Id(), { commaSeparated: true, description: 'Ids of users to leave out' }),
        ),
      }),
      answers: ListOf(BasicUser),
      read({ params: { search, skip_users: skipped }, page: input }) {
        const pattern = `%${(search ?? '').replace(/[\\%_]/g, '\\$&')}%`
        const conditions = [
          sql`u.state = 'active'`,
          sql`u.id in (select m.user_id from effective_memberships(subject.line, subject.id) m)`,
          ...(search === undefined || search === ''
            ? []
            : [sql`(u.name ilike ${pattern} or u.username ilike ${pattern})`]),
          ...(skipped === undefined || skipped.length === 0
            ? []
            : [sql`u.id <> all (${[...skipped]}::bigint[])`]),
        ]
        return page<{ readonly user: BasicUserRow }>(
          {
            columns: sql`${basicUserJson('u')} as "user"`,
            from: sql`from users u where ${sql.join(conditions, sql` and `)}`,
            order: sql`u.id`,
          },
          input,
        )
      },
      handle: async ({ rows }) => rows.map(({ user }) => basicUser(user, externalUrl())),
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/storage',
      summary: 'Tell where the repository of a project lies',
      description: 'For administrators.',
      on: project,
      may: 'read_project',
      answers: Fields({
        project_id: Id(),
        disk_path: Text(),
        created_at: Timestamp(),
        repository_storage: Text(),
      }),
      read: () =>
        rows<{ readonly created_at: string }>(
          sql`select p.created_at from projects p where p.id = subject.id`,
        ),
      async handle({ actor, project: { id, storage }, rows: [row] }) {
        if (!isAdministrator(actor)) throw forbidden()
        const [, path] = /(@hashed\/.*)\.git$/.exec(places.of({ id, storage }).path) ?? []
        return {
          project_id: id,
          disk_path: path ?? '',
          created_at: row!.created_at,
          repository_storage: storage,
        }
      },
    }),
  ]
}
