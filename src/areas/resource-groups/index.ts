import { endpoint, project } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  Timestamp,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { Job, type JobView } from '../jobs/index.ts'
import { processModes, taskNames } from '../pipelines/index.ts'
import * as store from './store.ts'

const ResourceGroup = Fields({
  id: Id(),
  key: Text(),
  process_mode: OneOf(processModes, { description: 'Which of the waiting jobs is next' }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

/** Groups of jobs of which one runs at a time; they come to be with the first job that names them. */
export function resourceGroups({ db, view }: { db: Database; view: JobView }): { endpoints: Endpoint[] } {
  const one = { on: project, checks, record: true } as const
  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/projects/:id/resource_groups',
        summary: 'List the resource groups of a project',
        on: project,
        may: 'read_resource_group',
        checks,
        paged: true,
        answers: ListOf(ResourceGroup),
        read: ({ page }) => store.list(page),
        handle: async ({ rows }) => rows,
      }),

      endpoint({
        ...one,
        method: 'GET',
        path: '/projects/:id/resource_groups/:key',
        summary: 'Get a resource group',
        may: 'read_resource_group',
        answers: ResourceGroup,
        read: ({ params }) => store.one(params.key),
        handle: async ({ rows }) => rows[0],
      }),

      endpoint({
        ...one,
        method: 'GET',
        path: '/projects/:id/resource_groups/:key/upcoming_jobs',
        summary: 'List the jobs that wait for a resource group, whoever is next first',
        may: 'read_resource_group',
        paged: true,
        answers: ListOf(Job),
        read: ({ params, page }) => store.upcoming(params.key, page),
        async handle({ project, rows, page }) {
          const { jobs, total } = rows[0]!
          return new Page(await view.all(jobs, project), { total, hasMore: total > page.offset + page.limit })
        },
      }),

      endpoint({
        ...one,
        method: 'PUT',
        path: '/projects/:id/resource_groups/:key',
        summary: 'Change which job of a resource group is next',
        may: 'update_resource_group',
        params: Fields({ process_mode: Optional(OneOf(processModes, {})) }),
        answers: ResourceGroup,
        read: ({ params }) => store.one(params.key),
        async handle({ project, params, rows }) {
          const row = rows[0]!
          const mode = params.process_mode
          if (mode === undefined || mode === row.process_mode) return row
          return db.transaction(async (tx) => {
            const { rows: changed } = await sql<store.ResourceGroupRow>`
              update ci_resource_groups g set process_mode = ${mode}, updated_at = now() where g.id = ${row.id}
              returning g.id, g.key, g.process_mode, g.created_at, g.updated_at`.execute(tx)
            await enqueue(tx, taskNames.grantResource, { project: project.id, group: row.key })
            return changed[0]
          })
        },
      }),
    ],
  }
}
