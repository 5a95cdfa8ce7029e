import { endpoint, project, userOf } from '../../access/index.ts'
import { environmentSlug, guessTier } from '../../ci/index.ts'
import { branchRef, findCommit, listRefs, parseOid, tagRef } from '../../git/index.ts'
import { forbidden, invalid, refused } from '../../kernel/errors/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { deployerCheck } from './deployer.ts'
import { removeRefs } from './deployment-refs.ts'
import { succeeded } from './deployments.ts'
import * as store from './deployments-store.ts'
import { Deployment, DeploymentDetail } from './entities.ts'
import * as environments from './environments-store.ts'
import type { EnvironmentServices } from './index.ts'
import { announce } from './news.ts'
import { check } from './rules.ts'
import type { ShownDeployments } from './show.ts'

const checks: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']
const settable = ['running', 'success', 'failed', 'canceled'] as const

export function deploymentEndpoints(
  { db, events, plan, places }: EnvironmentServices,
  shown: ShownDeployments,
): Endpoint[] {
  const requireDeployer = deployerCheck({ db, plan })
  const one = {
    on: project,
    checks,
    record: true,
    jobToken: true,
    read: ({ params }: { params: { deployment_id: number } }) => store.one(params.deployment_id),
  } as const
  const params = Fields({ deployment_id: Id() })

  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/deployments',
      summary: 'List the deployments of a project',
      on: project,
      may: 'read_environment',
      checks,
      anonymous: true,
      jobToken: true,
      paged: true,
      params: Fields({
        order_by: OneOf(store.deploymentOrders, { default: 'id' }),
        sort: OneOf(['asc', 'desc'], { default: 'asc' }),
        updated_after: Optional(DateTime()),
        updated_before: Optional(DateTime()),
        finished_after: Optional(DateTime()),
        finished_before: Optional(DateTime()),
        environment: Optional(Text({ description: 'Name of the environment' })),
        status: Optional(OneOf(store.deploymentStatuses, {})),
      }),
      answers: ListOf(Deployment),
      read: ({ params, page }) => store.list(params, page),
      handle: ({ project, rows }) => shown.all(rows, project),
    }),

    endpoint({
      ...one,
      method: 'GET',
      path: '/projects/:id/deployments/:deployment_id',
      summary: 'Get a deployment',
      may: 'read_environment',
      anonymous: true,
      params,
      answers: DeploymentDetail,
      handle: ({ project, rows }) => shown.detail(rows[0]!, project),
    }),

    endpoint({
      method: 'POST',
      path: '/projects/:id/deployments',
      summary: 'Tell of a deployment that was made elsewhere',
      description: 'The environment is made if there is none of this name.',
      on: project,
      may: 'update_environment',
      jobToken: true,
      params: Fields({
        environment: Text(),
        sha: Text(),
        ref: Text({ description: 'Short name of a branch or tag' }),
        tag: Flag(),
        status: OneOf(settable, {}),
      }),
      answers: DeploymentDetail,
      refuses: { 403: 'The environment is protected from the caller' },
      async handle({ actor, project, params }) {
        const { environment: name, sha, ref, tag, status } = params
        check({ name })
        await requireDeployer({ actor, project }, { name })
        const repository = places.of(project)
        const oid = parseOid(sha)
        if (oid === undefined || (await findCommit(repository, oid)) === undefined) {
          throw invalid({ sha: ['The commit does not exist'] })
        }
        const refName = tag ? tagRef(ref) : branchRef(ref)
        const refs = await listRefs(repository, project.refsVersion)
        if (refName === undefined || refs.find(refName) === undefined) {
          throw invalid({ ref: ['The branch or tag does not exist'] })
        }
        const id = await db.transaction(async (tx) => {
          await environments.ensure(tx, project.id, [
            { name, slug: environmentSlug(name), tier: guessTier(name) },
          ])
          const environmentId = await environments.idOf(tx, project.id, name)
          const made = await store.create(tx, {
            projectId: project.id,
            environmentId,
            userId: userOf(actor).id,
            status,
            ref,
            tag,
            sha,
          })
          if (status === 'success') await succeeded(tx, environmentId, made, unchanged)
          await announce({ events }, tx, { actor, project }, { deploymentId: made, status })
          return made
        })
        return shown.detail(await store.find(db.reader, id), project)
      },
    }),

    endpoint({
      ...one,
      method: 'PUT',
      path: '/projects/:id/deployments/:deployment_id',
      summary: 'Change the status of a deployment that was made elsewhere',
      may: 'update_environment',
      params: Fields({ deployment_id: Id(), status: OneOf(settable, {}) }),
      answers: DeploymentDetail,
      refuses: { 403: 'A job deploys, which tells by itself, or the environment is protected' },
      async handle({ actor, project, params, rows }) {
        const { id, by_job, environment, status: before } = rows[0]!
        const { status } = params
        await requireDeployer({ actor, project }, environment)
        if (by_job) throw forbidden('Deployments created using CI can not be updated using the API')
        await db.transaction(async (tx) => {
          await store.setStatus(tx, id, status)
          if (status === 'success') await succeeded(tx, environment.id, id, unchanged)
          if (status !== before) {
            await announce({ events }, tx, { actor, project }, { deploymentId: id, status })
          }
        })
        return shown.detail(await store.find(db.reader, id), project)
      },
    }),

    endpoint({
      ...one,
      method: 'DELETE',
      path: '/projects/:id/deployments/:deployment_id',
      summary: 'Forget a deployment',
      may: 'destroy_deployment',
      params,
      answers: null,
      refuses: { 400: 'It runs, or is what is deployed now' },
      async handle({ project, rows }) {
        const { id, iid, status, environment } = rows[0]!
        if (status === 'running') throw refused(400, 'Cannot destroy running deployment')
        if (await store.isLast(db.reader, id)) {
          throw refused(400, 'Deployment currently deployed to environment')
        }
        await db.transaction(async (tx) => {
          await store.remove(tx, id)
          await removeRefs(tx, { project: project.id, slug: environment.slug, iid })
        })
      },
    }),
  ]
}

/** Whoever tells of a deployment says nothing of the environment. */
const unchanged = { url: null, tier: null, stopIn: null }
