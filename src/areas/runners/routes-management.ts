import {
  endpoint,
  enterAs,
  group as groupKind,
  instance,
  isAdministrator,
  may,
  project as projectKind,
  userOf,
  type Actor,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import { forbidden, notFound } from '../../kernel/errors/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { Job, jobsOfRunner, RunnerManager, runnerManager, runnerTypes, type JobView } from '../jobs/index.ts'
import { sql } from '../../kernel/db/index.ts'
import { projectsWithRole } from '../../access/index.ts'
import { statuses } from '../../ci/index.ts'
import {
  Runner,
  runner,
  RunnerDetail,
  runnerDetail,
  runnerProject,
  RunnerProject,
  RunnerToken,
  type RunnerDetailRow,
} from './entities.ts'
import type { RunnerServices } from './index.ts'
import { comparesReleases } from './releases.ts'
import { upgradeStatuses } from './releases-store.ts'
import { expiryOf, runnerParams, runnerValues } from './rules.ts'
import * as reading from './reading.ts'
import * as store from './store.ts'

export const runnerFilters = {
  type: Optional(OneOf(runnerTypes, {})),
  scope: Optional(
    OneOf(['active', 'paused', 'online', 'offline', 'instance_type', 'group_type', 'project_type'], {
      deprecated: true,
    }),
  ),
  status: Optional(OneOf('active', 'paused', 'online', 'offline', 'stale', 'never_contacted')),
  paused: Optional(Flag()),
  tag_list: Optional(ListOf(Text(), { commaSeparated: true })),
  version_prefix: Optional(Text()),
  upgrade_status: Optional(
    OneOf(upgradeStatuses, { description: 'None has one while no releases are known' }),
  ),
}

const scopes = ['manage_runner']
/** Projects of a runner that are looked at for the right to see it. */
const mostProjects = 50

/** Whether somebody may look at, or change, a runner: administrators, and whoever runs one of its places. */
export async function mayOn(
  { db }: RunnerServices,
  actor: Actor,
  row: RunnerDetailRow,
  what: 'read' | 'admin',
): Promise<boolean> {
  if (isAdministrator(actor)) return true
  const { id } = userOf(actor)
  if (row.runner_type === 'instance_type') return what === 'read'
  if (row.namespace_id !== null) {
    const entered = await enterAs<GroupSubject>(db, groupKind, id, row.namespace_id)
    const ability = what === 'read' ? 'read_group_runner' : 'admin_group_runner'
    return entered !== undefined && may(actor, ability, entered.subject)
  }
  for (const project of row.projects.slice(0, mostProjects)) {
    const entered = await enterAs<ProjectSubject>(db, projectKind, id, project.id)
    const ability = what === 'read' ? 'read_runner' : 'admin_runner'
    if (entered !== undefined && may(actor, ability, entered.subject)) return true
  }
  return false
}

/** Runners, for the people who look after them. */
export function managementEndpoints(services: RunnerServices, view: JobView): Endpoint[] {
  const { db, externalUrl, settings } = services
  const shown = (row: RunnerDetailRow): Record<string, unknown> =>
    runnerDetail(row, externalUrl(), new Date())
  const require = async (actor: Actor, row: RunnerDetailRow, what: 'read' | 'admin'): Promise<void> => {
    if (!(await mayOn(services, actor, row, what))) throw forbidden('No access granted')
  }
  const existing = async (id: number): Promise<RunnerDetailRow> => {
    const row = await reading.find(db.reader, id)
    if (row === undefined) throw notFound('Runner')
    return row
  }
  const about = { on: instance, may: 'read_instance', scopes, record: 'Runner' } as const
  const params = Fields({ id: Id() })

  return [
    endpoint({
      method: 'GET',
      path: '/runners',
      summary: 'List the runners that the caller looks after',
      on: instance,
      may: 'read_instance',
      scopes,
      paged: true,
      params: Fields(runnerFilters),
      answers: ListOf(Runner),
      read: ({ params, page }) => reading.own(filterOf(services, params), page),
      handle: async ({ rows }) => rows.map((row) => runner(row, new Date())),
    }),
    endpoint({
      method: 'GET',
      path: '/runners/all',
      summary: 'List all runners',
      on: instance,
      may: 'admin_instance',
      scopes,
      paged: true,
      params: Fields(runnerFilters),
      answers: ListOf(Runner),
      read: ({ params, page }) => reading.all(filterOf(services, params), page),
      handle: async ({ rows }) => rows.map((row) => runner(row, new Date())),
    }),
    endpoint({
      ...about,
      method: 'GET',
      path: '/runners/:id',
      summary: 'Get a runner',
      params,
      answers: RunnerDetail,
      read: ({ params }) => reading.one(params.id, comparesReleases(services)),
      async handle({ actor, rows }) {
        await require(actor, rows[0]!, 'read')
        return shown(rows[0]!)
      },
    }),
    endpoint({
      ...about,
      method: 'PUT',
      path: '/runners/:id',
      summary: 'Change a runner',
      params: Fields({ id: Id(), ...runnerParams }),
      rules: { mutuallyExclusive: [['active', 'paused']] },
      answers: RunnerDetail,
      read: ({ params }) => reading.one(params.id),
      async handle({ actor, rows, params }) {
        const row = rows[0]!
        await require(actor, row, 'admin')
        const values = runnerValues(params, row)
        await db.transaction((tx) => store.change(tx, row.id, values))
        return shown((await reading.find(db.reader, row.id, comparesReleases(services))) ?? row)
      },
    }),
    endpoint({
      ...about,
      method: 'DELETE',
      path: '/runners/:id',
      summary: 'Delete a runner',
      params,
      answers: null,
      refuses: {
        403: 'It serves several projects, or others look after it',
        ...whenChanged,
      },
      read: ({ params }) => reading.one(params.id),
      async handle({ actor, rows, request }) {
        const row = rows[0]!
        await require(actor, row, 'admin')
        requireUnmodified(request, row.updated_at)
        if (row.projects.length > 1 && !isAdministrator(actor)) {
          throw forbidden('Runner associated with more than one project')
        }
        await db.transaction((tx) => store.remove(tx, row.id))
      },
    }),
    endpoint({
      ...about,
      method: 'POST',
      path: '/runners/:id/reset_authentication_token',
      summary: 'Give a runner a new token',
      params,
      answers: RunnerToken,
      read: ({ params }) => reading.one(params.id),
      async handle({ actor, rows }) {
        await require(actor, rows[0]!, 'admin')
        const { id, runner_type } = rows[0]!
        const expiresAt = expiryOf(runner_type, settings.values, new Date())
        return db.transaction((tx) => store.renewToken(tx, id, expiresAt))
      },
    }),
    endpoint({
      method: 'GET',
      path: '/runners/:id/managers',
      summary: 'List the programs that work as a runner',
      on: instance,
      may: 'read_instance',
      scopes,
      paged: true,
      params,
      answers: ListOf(RunnerManager),
      read: ({ params, page }) => reading.managersOf(params.id, page),
      async handle({ actor, rows, params }) {
        await require(actor, await existing(params.id), 'read')
        return rows.map((manager) => runnerManager(manager, new Date()))
      },
    }),
    endpoint({
      method: 'GET',
      path: '/runners/:id/projects',
      summary: 'List the projects that a project runner serves',
      description: 'Only those that the caller maintains.',
      on: instance,
      may: 'read_instance',
      scopes,
      paged: true,
      params,
      answers: ListOf(RunnerProject),
      read: ({ params, page }) => reading.projectsOf(params.id, page),
      async handle({ actor, rows, params }) {
        await require(actor, await existing(params.id), 'read')
        return rows.map(runnerProject)
      },
    }),
    endpoint({
      method: 'GET',
      path: '/runners/:id/jobs',
      summary: 'List the jobs a runner was given',
      description: 'Only those of projects that the caller maintains.',
      on: instance,
      may: 'read_instance',
      scopes,
      paged: true,
      params: Fields({
        id: Id(),
        status: Optional(OneOf(statuses, {})),
        order_by: Optional(OneOf('id')),
        sort: Optional(OneOf('asc', 'desc')),
      }),
      answers: ListOf(Job),
      read: ({ params, page }) =>
        jobsOfRunner(
          {
            runnerId: params.id,
            status: params.status,
            sort: params.sort,
            readable: sql`(actor.admin or j.project_id in (${projectsWithRole('maintainer')}))`,
          },
          page,
        ),
      async handle({ actor, rows, params }) {
        await require(actor, await existing(params.id), 'read')
        const byProject = Map.groupBy(rows, ({ shown_in }) => shown_in.id)
        const made = new Map<unknown, Record<string, unknown>>()
        for (const jobs of byProject.values()) {
          for (const job of await view.all(jobs, jobs[0]!.shown_in)) made.set(job['id'], job)
        }
        return rows.map(({ id }) => made.get(id))
      },
    }),
  ]
}

/** `scope` is the old spelling of two other filters. */
export function filterOf(
  services: RunnerServices,
  { scope, ...params }: Omit<reading.RunnerFilter, 'compared'> & { scope?: string | undefined },
): reading.RunnerFilter {
  const filter = { ...params, compared: comparesReleases(services) }
  if (scope === undefined) return filter
  return scope.endsWith('_type')
    ? { ...filter, type: filter.type ?? scope }
    : { ...filter, status: filter.status ?? scope }
}
