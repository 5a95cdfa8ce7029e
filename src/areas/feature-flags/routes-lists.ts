import { endpoint, project } from '../../access/index.ts'
import { Fields, Id, ListOf, Optional, Text, type Check, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { UserList } from './entities.ts'
import type { FlagServices } from './index.ts'
import * as store from './lists-store.ts'
import { checkList } from './rules.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const path = '/projects/:id/feature_flags_user_lists'
const record = 'Feature Flag User List'

/** Lists of users that strategies name, so that they need not be written twice. */
export function listEndpoints({ db }: FlagServices): Endpoint[] {
  const one = {
    on: project,
    checks,
    path: `${path}/:iid`,
    record,
    read: ({ params }: { params: { iid: number } }) => store.one(params.iid),
  } as const
  const iid = { iid: Id({ description: 'Number within the project' }) }
  const refuses = { 400: 'The name is taken, or the users are none' }

  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the user lists of a project',
      on: project,
      may: 'read_feature_flag',
      checks,
      paged: true,
      params: Fields({ search: Optional(Text({ description: 'Part of a name, in any letter case' })) }),
      answers: ListOf(UserList),
      read: ({ params, page }) => store.list(params.search, page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      ...one,
      method: 'GET',
      summary: 'Get a user list',
      may: 'read_feature_flag',
      params: Fields(iid),
      answers: UserList,
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create a user list',
      on: project,
      may: 'admin_feature_flag',
      checks,
      params: Fields({ name: Text(), user_xids: Text({ description: 'With commas between them' }) }),
      answers: UserList,
      refuses,
      async handle({ project, params }) {
        const values = { name: params.name, userXids: params.user_xids }
        checkList(values)
        return db.transaction((tx) => store.create(tx, project.id, values))
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      summary: 'Change a user list',
      may: 'admin_feature_flag',
      params: Fields({ ...iid, name: Optional(Text()), user_xids: Optional(Text()) }),
      answers: UserList,
      refuses,
      async handle({ params, rows }) {
        const before = rows[0]!
        const values = { name: params.name ?? before.name, userXids: params.user_xids ?? before.user_xids }
        checkList(values)
        const changed = await store.change(db.writer, before.id, values)
        if (changed === undefined) throw notFound(record)
        return changed
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      summary: 'Delete a user list',
      may: 'admin_feature_flag',
      params: Fields(iid),
      answers: null,
      refuses: { 409: 'A strategy names it' },
      handle: ({ rows }) => store.remove(db.writer, rows[0]!.id),
    }),
  ]
}
