import { endpoint, project, type Actor, type ProjectSubject } from '../../access/index.ts'
import { environmentSlug, guessTier } from '../../ci/index.ts'
import { badRequest, forbidden } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { basicProject, contextOf } from '../projects/index.ts'
import { deployerCheck } from './deployer.ts'
import { removeRefs } from './deployment-refs.ts'
import { BasicEnvironment, Environment, type WithProject } from './entities.ts'
import * as store from './environments-store.ts'
import type { EnvironmentServices } from './index.ts'
import { autoStopSettings, check, tiers } from './rules.ts'
import type { ShownDeployments } from './show.ts'
import { stopDue } from './tasks.ts'
import type { Stopping } from './stopping.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const shortestSearch = 3
const week = 7 * 24 * 3600_000

const settable = {
  external_url: Optional(Nullable(Text())),
  tier: Optional(OneOf(tiers, {})),
  description: Optional(Nullable(Text())),
  auto_stop_setting: Optional(OneOf(autoStopSettings, {})),
}

export function environmentEndpoints(
  services: EnvironmentServices,
  stopping: Stopping,
  shown: ShownDeployments,
): Endpoint[] {
  const { db, plan } = services
  const requireDeployer = deployerCheck({ db, plan })
  const one = { on: project, checks, record: true, jobToken: true } as const
  const params = Fields({ environment_id: Id() })
  const read = ({ params: { environment_id } }: { params: { environment_id: number } }) =>
    store.one(environment_id)
  const projectOf = (actor: Actor, project: ProjectSubject, { project: row }: WithProject) =>
    basicProject(row, project, contextOf(services, actor))

  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/environments',
      pollable: 3_000,
      summary: 'List the environments of a project',
      on: project,
      may: 'read_environment',
      checks,
      anonymous: true,
      jobToken: true,
      paged: true,
      params: Fields({
        name: Optional(Text()),
        search: Optional(
          Text({ description: `Beginning of the name, at least ${shortestSearch} characters` }),
        ),
        states: Optional(OneOf(['available', 'stopping', 'stopped'], {})),
      }),
      rules: { mutuallyExclusive: [['name', 'search']] },
      answers: ListOf(Environment),
      read: ({ params: { name, search, states }, page }) => store.list({ name, search, states }, page),
      async handle({ actor, project, params, rows }) {
        if (params.search !== undefined && params.search.length < shortestSearch) {
          throw badRequest(`Search query is less than ${shortestSearch} characters`)
        }
        return rows.map((row) => ({ ...row, project: projectOf(actor, project, row) }))
      },
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: '/projects/:id/environments/:environment_id',
      summary: 'Get an environment, with what is deployed to it',
      may: 'read_environment',
      anonymous: true,
      params,
      answers: Environment,
      read,
      async handle({ actor, project, rows }) {
        const { last_deployment, ...row } = rows[0]!
        return {
          ...row,
          project: projectOf(actor, project, row),
          last_deployment: last_deployment === null ? null : await shown.one(last_deployment, project),
        }
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/environments',
      summary: 'Create an environment',
      on: project,
      may: 'update_environment',
      jobToken: true,
      params: Fields({ name: Text(), ...settable }),
      answers: Environment,
      read: () => store.ofProject(),
      async handle({ actor, project, params, rows }) {
        const { name, external_url = null, tier, description = null, auto_stop_setting = 'always' } = params
        check({ name, externalUrl: external_url })
        const made = await store.create(db.writer, project.id, {
          name,
          slug: environmentSlug(name),
          tier: tier ?? guessTier(name),
          external_url: external_url === '' ? null : external_url,
          description,
          auto_stop_setting,
        })
        return { ...made, project: projectOf(actor, project, rows[0]!) }
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: '/projects/:id/environments/:environment_id',
      summary: 'Change an environment',
      may: 'update_environment',
      params: Fields({ environment_id: Id(), ...settable }),
      answers: Environment,
      read,
      async handle({ actor, project, params, rows }) {
        const { external_url, tier, description, auto_stop_setting } = params
        check({ externalUrl: external_url })
        const changed = await store.change(db.writer, rows[0]!.id, {
          external_url: external_url === '' ? null : external_url,
          tier,
          description,
          auto_stop_setting,
        })
        return { ...changed, project: projectOf(actor, project, rows[0]!) }
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/projects/:id/environments/review_apps',
      summary: 'Delete old review apps that are stopped, a week from now',
      description: 'Environments of the folder `review/`; `dry_run`, which is the default, only tells which.',
      on: project,
      may: 'update_environment',
      jobToken: true,
      params: Fields({
        before: Optional(DateTime({ description: 'Created before; 30 days ago' })),
        limit: Int({ default: 100, minimum: 1, maximum: 1000 }),
        dry_run: Flag({ default: true }),
      }),
      status: 200,
      answers: Fields({
        scheduled_entries: ListOf(BasicEnvironment),
        unprocessable_entries: ListOf(BasicEnvironment),
      }),
      async handle({ project, params }) {
        const before = params.before ?? new Date(Date.now() - 30 * 24 * 3600_000)
        const { limit, dry_run: dryRun } = params
        const chosen = await store.markReviewApps(db.writer, project.id, { before, limit, dryRun })
        return { scheduled_entries: chosen, unprocessable_entries: [] }
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: '/projects/:id/environments/:environment_id',
      summary: 'Delete an environment that is stopped',
      may: 'update_environment',
      params,
      answers: null,
      refuses: { ...whenChanged, 403: 'It is not stopped, or protected from the caller' },
      read,
      async handle({ actor, project, rows, request }) {
        await requireDeployer({ actor, project }, rows[0]!)
        requireUnmodified(request, rows[0]!.updated_at)
        await db.transaction(async (tx) => {
          const gone = await store.remove(tx, rows[0]!.id)
          if (gone === undefined) throw forbidden()
          await removeRefs(tx, gone)
        })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/environments/stop_stale',
      summary: 'Stop the environments that nobody has changed or deployed to for long',
      on: project,
      may: 'update_environment',
      jobToken: true,
      params: Fields({
        before: DateTime({ description: 'Between ten years and a week ago' }),
      }),
      status: 200,
      answers: Fields({ message: Text() }),
      async handle({ project, params }) {
        requireStale(params.before)
        await db.transaction(async (tx) => {
          await store.markStale(tx, project.id, params.before)
          await enqueue(tx, stopDue, {})
        })
        return { message: 'Successfully requested stop for all stale environments' }
      },
    }),

    endpoint({
      ...one,
      method: 'POST',
      path: '/projects/:id/environments/:environment_id/stop',
      summary: 'Stop an environment',
      description: 'By the job that was named for it, if that waits to be started; `force`: without it.',
      may: 'update_environment',
      params: Fields({ environment_id: Id(), force: Flag({ default: false }) }),
      status: 200,
      answers: Environment,
      read,
      async handle({ actor, project, params, rows }) {
        const environment = rows[0]!
        await requireDeployer({ actor, project }, environment)
        await stopping.stop(environment, { actor, project: project, force: params.force })
        const stopped = await store.find(db.reader, environment.id)
        return { ...stopped, project: projectOf(actor, project, environment) }
      },
    }),
  ]
}

function requireStale(before: Date): void {
  const age = Date.now() - before.getTime()
  if (age < week || age > 10 * 365.25 * 24 * 3600_000) throw badRequest('Invalid Date')
}
