import {
  accountProblem,
  enter,
  enterById,
  isVisible,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Statements } from '../../kernel/db/index.ts'
import { forbidden, notFound, refused } from '../../kernel/errors/index.ts'
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
 * not seen by whoever would start the pipeline: nothing is to be learnt by trying tokens. `digest`: of the token.
 */
export async function starterOf(db: Statements, found: Found | undefined, digest: string): Promise<Starter> {
  if (found === undefined) throw notFound()
  const { trigger, job } = found
  if (trigger === null) requireRunning(job)
  const lookup = { id: String(found.project_id), secretDigest: undefined }
  const { actor, subject: project } =
    trigger === null
      ? await enter<ProjectSubject>(db, projectKind, { kind: 'job', digest, sudo: undefined }, lookup)
      : await enterById<ProjectSubject>(db, projectKind, trigger.owner_id ?? 0, lookup)
  if (actor?.user == null || project === undefined || accountProblem(actor.user) !== undefined)
    throw notFound()
  if (!isVisible(actor, project) || !may(actor, 'reach_project', project)) throw notFound()
  if (!may(actor, 'admit_job', project)) throw forbidden()
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
