import { buffer } from 'node:stream/consumers'
import type { Blobs } from '../../blobs/index.ts'
import {
  environmentSlug,
  expandText,
  guessTier,
  parseDuration,
  type Environment,
  type Variable,
} from '../../ci/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'
import { readDotenv } from '../jobs/index.ts'
import type { Deployments } from '../pipelines/index.ts'
import { heldJobs, heldNewJobs, refusedJobs } from '../protected-environments/index.ts'
import { keepCommit } from './deployment-refs.ts'
import * as store from './deployments-store.ts'
import * as environments from './environments-store.ts'
import { nameFault, urlFault } from './rules.ts'

const settle = 'environments:settle'

/** What pipelines tell of jobs that name an environment, in the transactions that change these. */
export const deployments = (plan: Plan): Deployments => ({
  // Below the plan that has them rules do not hold.
  held: async (db, pipelineId) => (protects(plan) ? heldJobs(db, pipelineId) : new Map()),
  async heldNew(db, by, jobs) {
    if (!protects(plan)) return new Map()
    return heldNewJobs(
      db,
      by,
      jobs.map(({ id, environment: { expandedName, deploymentTier, action } }) => ({
        id,
        action,
        environment: expandedName,
        tier: deploymentTier ?? guessTier(expandedName),
      })),
    )
  },
  refused: async (db, pipelineId, userId) =>
    protects(plan) ? refusedJobs(db, pipelineId, userId) : new Set(),
  async begin(tx, { projectId, pipelineId }, named) {
    const wanted = new Map(named.map((one) => [one.expandedName, toBeMade(one)]))
    await environments.ensure(
      tx,
      projectId,
      [...wanted.values()].filter(({ name }) => nameFault(name) === undefined),
    )
    await store.addMissing(tx, { projectId, pipelineId }, { approvals: protects(plan) })
  },
  again: (tx, of) => store.addMissing(tx, of, { approvals: protects(plan) }),
  async follow(tx: Tx, pipelineId, changed) {
    const followed = await store.follow(tx, pipelineId, changed, { approvals: protects(plan) })
    for (const job of followed) await enqueue(tx, settle, { job })
  },
})

export const protects = (plan: Plan): boolean => offers(plan, 'protected_environments')

function toBeMade({ expandedName: name, deploymentTier }: Environment): environments.NewEnvironment {
  return { name, slug: environmentSlug(name), tier: deploymentTier ?? guessTier(name) }
}

/** After the success of a job the environment is as the job says. */
export function settling({ db, blobs }: { db: Database; blobs: Blobs }): Task {
  return {
    name: settle,
    async run(payload) {
      const job = await store.findEnded(db.reader, (payload as { job: number }).job)
      if (job === undefined) return
      const reported = job.dotenv === null ? [] : readDotenv(await buffer(blobs.read(job.dotenv)))
      const stopIn = job.auto_stop_in === null ? null : parseDuration(expandText(job.auto_stop_in, reported))
      const url = job.url === null ? null : addressOf(job.url, reported)
      await db.transaction(async (tx) => {
        if (job.action === 'stop') await environments.stopped(tx, job.environment_id, job.job_id)
        else if (job.action === 'start' && job.deployment_id !== null) {
          const { tier } = job
          await succeeded(tx, job.environment_id, job.deployment_id, { url, tier, stopIn })
        } else if (stopIn !== null) await environments.prolong(tx, job.environment_id, stopIn)
      })
    },
  }
}

/** The environment is as what was deployed to it says, and the commit stays. */
export async function succeeded(
  tx: Tx,
  environmentId: number,
  deploymentId: number,
  facts: environments.DeployedFacts,
): Promise<void> {
  await environments.deployed(tx, environmentId, deploymentId, facts)
  await keepCommit(tx, deploymentId)
}

/** The address with what the job itself has reported put in; null where that makes no address. */
function addressOf(url: string, reported: readonly Variable[]): string | null {
  const expanded = expandText(url, reported)
  return urlFault(expanded) === undefined ? expanded : null
}
