import {
  accountProblem,
  enterAs,
  isVisible,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Statements } from '../../kernel/db/index.ts'
import { notFound, refused } from '../../kernel/errors/index.ts'
import type { Upstream } from '../pipelines/index.ts'
import type { Found } from './store.ts'

/** In whose name a pipeline starts, where, and by what. */
export interface Starter {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly source: 'trigger' | 'pipeline'
  readonly triggerId?: number
  readonly upstream?: Upstream
}

/**
 * What the token that was found stands for. There is one answer for all that is not there, is not the caller's, or
 * not seen by whoever would start the pipeline: nothing is to be learnt by trying tokens.
 */
export async function starterOf(db: Statements, found: Found | undefined): Promise<Starter> {
  if (found === undefined) throw notFound()
  const { trigger, job } = found
  if (trigger === null) requireRunning(job)
  const userId = trigger === null ? job?.user_id : trigger.owner_id
  const entered =
    userId === null || userId === undefined
      ? undefined
      : await enterAs<ProjectSubject>(db, projectKind, userId, found.project_id)
  if (
    entered === undefined ||
    entered.actor.user === null ||
    accountProblem(entered.actor.user) !== undefined
  ) {
    throw notFound()
  }
  const actor =
    trigger === null && job !== null
      ? { ...entered.actor, job: { id: job.id, projectId: job.project_id, pipelineId: job.pipeline_id } }
      : entered.actor
  const project = entered.subject
  if (!isVisible(actor, project) || !may(actor, 'reach_project', project)) throw notFound()
  if (found.moved) throw refused(405, 'Non GET methods are not allowed for moved projects')
  return trigger === null
    ? { actor, project, source: 'pipeline', ...(job !== null && { upstream: upstreamOf(job) }) }
    : { actor, project, source: 'trigger', triggerId: trigger.id }
}

function upstreamOf({ id, pipeline_id, project_id }: NonNullable<Found['job']>): Upstream {
  return { job_id: id, pipeline_id, project_id }
}

function requireRunning(job: Found['job']): void {
  if (job === null) throw notFound()
  if (job.erased) throw refused(401, 'Job has been erased!')
  if (job.status !== 'running') throw refused(401, 'Job is not running')
}
