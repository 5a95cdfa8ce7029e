import { endpoint, group, isAdministrator, project } from '../../access/index.ts'
import { forbidden, invalid, notFound, refused } from '../../kernel/errors/index.ts'
import { Fields, Id, ListOf, type Endpoint } from '../../kernel/endpoint/index.ts'
import { Runner, runner } from './entities.ts'
import type { RunnerServices } from './index.ts'
import { filterOf, mayOn, runnerFilters } from './routes-management.ts'
import * as reading from './reading.ts'
import { comparesReleases } from './releases.ts'
import * as store from './store.ts'

const scopes = ['manage_runner']

/** Which runners serve a project or group. */
export function placeEndpoints(services: RunnerServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/runners',
      summary: 'List the runners that serve a project',
      on: project,
      may: 'read_runner',
      scopes,
      paged: true,
      params: Fields(runnerFilters),
      answers: ListOf(Runner),
      read: ({ params, page }) => reading.ofProject(filterOf(services, params), page),
      handle: async ({ rows }) => rows.map((row) => runner(row, new Date())),
    }),
    endpoint({
      method: 'POST',
      path: '/projects/:id/runners',
      summary: 'Let a project runner serve a further project',
      on: project,
      may: 'admin_runner',
      scopes,
      params: Fields({ runner_id: Id() }),
      answers: Runner,
      refuses: { 400: 'It serves the project already', 403: 'It is locked, or no project runner' },
      async handle({ actor, project, params }) {
        const row = await reading.find(db.reader, params.runner_id, comparesReleases(services))
        if (row === undefined) throw notFound('Runner')
        if (row.locked && !isAdministrator(actor)) throw forbidden('Runner is locked')
        if (row.runner_type === 'group_type') throw forbidden('Runner is a group runner')
        if (row.runner_type === 'instance_type' || !(await mayOn(services, actor, row, 'admin'))) {
          throw forbidden('No access granted')
        }
        const added = await db.transaction((tx) => store.assign(tx, row.id, project.id))
        if (!added) throw invalid({ runner_id: ['has already been taken'] })
        return runner(row, new Date())
      },
    }),
    endpoint({
      method: 'DELETE',
      path: '/projects/:id/runners/:runner_id',
      summary: 'Take a project runner away from a project',
      on: project,
      may: 'admin_runner',
      scopes,
      params: Fields({ runner_id: Id() }),
      answers: null,
      refuses: { 403: 'It serves this project only: delete it instead' },
      async handle({ project, params }) {
        const row = await reading.find(db.reader, params.runner_id)
        if (row?.projects.some(({ id }) => id === project.id) !== true) throw notFound('Runner')
        if (row.projects.length === 1) {
          throw refused(
            403,
            '403 Forbidden - Only one project associated with the runner. Please remove the runner instead',
          )
        }
        await db.transaction((tx) => store.unassign(tx, row.id, project.id))
      },
    }),
    endpoint({
      method: 'GET',
      path: '/groups/:id/runners',
      summary: 'List the runners that serve a group',
      on: group,
      may: 'read_group_runner',
      scopes,
      paged: true,
      params: Fields(runnerFilters),
      answers: ListOf(Runner),
      read: ({ params, page }) => reading.ofGroup(filterOf(services, params), page),
      handle: async ({ rows }) => rows.map((row) => runner(row, new Date())),
    }),
  ]
}
