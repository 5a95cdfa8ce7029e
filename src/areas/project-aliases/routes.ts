import { endpoint, find, instance, project } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { Either, Fields, Id, ListOf, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { checkName } from './rules.ts'
import * as store from './store.ts'

export interface AliasServices {
  readonly db: Database
}

const Alias = Fields({ id: Id(), project_id: Id(), name: Text() })

export function aliasEndpoints({ db }: AliasServices): Endpoint[] {
  const about = {
    on: instance,
    may: 'admin_instance',
    plan: planOf.project_aliases,
    // The plan is looked at before anybody is asked who he is (completions of part 2, 4).
    checks: ['subject', 'credentials', 'may', 'params', 'record'],
  } as const
  const oneOf = {
    record: true,
    read: ({ params }: { params: { name: string } }) => store.one(params.name),
  } as const

  return [
    endpoint({
      ...about,
      method: 'GET',
      path: '/project_aliases',
      summary: 'List the aliases of projects',
      paged: true,
      answers: ListOf(Alias),
      read: ({ page }) => store.list(page),
      handle: async ({ rows }) => rows,
    }),

    endpoint({
      ...about,
      ...oneOf,
      method: 'GET',
      path: '/project_aliases/:name',
      summary: 'Get an alias',
      answers: Alias,
      handle: async ({ rows }) => rows[0],
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/project_aliases',
      summary: 'Give a project another name for git, which hangs on no group',
      params: Fields({
        project_id: Either(Id(), Text({ description: 'Id or full path' })),
        name: Text({ description: 'As the path of a project; upper and lower case differ' }),
      }),
      answers: Alias,
      refuses: { 400: 'The name is in use, or can be no name', 404: 'No such project' },
      async handle({ actor, params }) {
        const found = await find(db.reader, project, actor, String(params.project_id))
        if (found === undefined) throw notFound('Project')
        checkName(params.name)
        return store.insert(db.writer, found.id, params.name)
      },
    }),

    endpoint({
      ...about,
      ...oneOf,
      method: 'DELETE',
      path: '/project_aliases/:name',
      summary: 'Take a name back',
      answers: null,
      handle: ({ params }) => store.remove(db.writer, params.name),
    }),
  ]
}
