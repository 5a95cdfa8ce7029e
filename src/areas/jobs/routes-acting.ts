import { endpoint, may, project, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { isCompleted, isPlayable, isRetryable, type Status } from '../../ci/index.ts'
import { offers } from '../../kernel/config/index.ts'
import { badRequest, forbidden, invalidParameters, notFound } from '../../kernel/errors/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  Text,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import {
  closedRollbacks,
  isArchived,
  isOvertaken,
  pipelineSecretContext,
  skippedAfter,
} from '../pipelines/index.ts'
import { verdictOnJob } from '../protected-environments/index.ts'
import * as artifacts from './artifacts-store.ts'
import { Job, type JobRow } from './entities.ts'
import type { JobServices } from './index.ts'
import { removeFilesLater, type JobView } from './show.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['credentials', 'params', 'subject', 'may', 'record']

/** What people do to jobs. */
export function actingEndpoints(
  { db, plan, cipher, settings, refProtection, process }: JobServices,
  view: JobView,
): Endpoint[] {
  const requireRef = async (
    actor: Actor,
    project: ProjectSubject,
    { run_ref: name, tag }: JobRow,
  ): Promise<void> => {
    if (!(await refProtection.mayRun(db.reader, actor, project, { name, tag }))) throw forbidden()
  }
  /** Where the environment is protected its rule decides, else who may work on pipelines. Answers what is missing. */
  const requireStart = async (
    actor: Actor,
    project: ProjectSubject,
    row: JobRow,
  ): Promise<{ readonly pending: boolean }> => {
    const verdict = offers(plan, 'protected_environments')
      ? await verdictOnJob(db.reader, row.id, userOf(actor).id)
      : undefined
    if (verdict?.allowed === false) throw forbidden()
    if (verdict === undefined) {
      if (!may(actor, 'update_pipeline', project)) throw forbidden()
      await requireRef(actor, project, row)
    }
    return { pending: verdict?.pending === true }
  }
  const shown = async (id: number, project: ProjectSubject): Promise<Record<string, unknown>> => {
    const row = await store.find(db.reader, id)
    if (row === undefined) throw forbidden()
    return view.one(row, project)
  }
  const about = { method: 'POST', on: project, checks, record: true, answers: Job } as const
  const params = Fields({ job_id: Id() })

  return [
    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/cancel',
      summary: 'Cancel a job',
      may: 'cancel_pipeline',
      params: Fields({
        job_id: Id(),
        force: Flag({ default: false, description: 'Also one that is being canceled; for Maintainers' }),
      }),
      read: ({ params }) => store.oneOfAnyKind(params.job_id),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        await requireRef(actor, project, row)
        if (params.force && !may(actor, 'admin_job', project)) throw forbidden()
        if (row.status === 'canceling') {
          if (params.force) await process.drop({ id: row.id, pipelineId: row.pipeline.id }, 'unknown_failure')
        } else {
          await process.cancel(row.pipeline.id, { ids: [row.id] })
        }
        return shown(row.id, project)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/retry',
      summary: 'Run a job again',
      may: 'start_job',
      params,
      refuses: { 403: 'The job cannot be run again, or the caller may not deploy there' },
      read: ({ params }) => store.oneOfAnyKind(params.job_id),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        await requireStart(actor, project, row)
        const closed = await closedRollbacks(db.reader, project, row.pipeline.id)
        if (closed.has(row.id) || isArchived(row.pipeline, settings.values))
          throw forbidden('Job is not retryable')
        const [made] = await process.retry(
          row.pipeline.id,
          (jobs) => {
            const latest = jobs.find(({ id }) => id === row.id)
            return latest !== undefined && latest.kind !== 'external' && isRetryable(latest.status as Status)
              ? { ids: [row.id], reopen: skippedAfter(jobs, row.name, row.stage_index) }
              : { ids: [], reopen: [] }
          },
          actor.user!.id,
        )
        if (made === undefined) throw forbidden('Job is not retryable')
        return shown(made, project)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/play',
      summary: 'Start a manual or delayed job now',
      may: 'start_job',
      status: 200,
      params: Fields({
        job_id: Id(),
        job_variables_attributes: Optional(ListOf(Fields({ key: Text(), value: Text() }))),
      }),
      refuses: { 400: 'The job does not wait for anybody, or it waits for approvals' },
      read: ({ params }) => store.oneOfAnyKind(params.job_id),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        const { pending } = await requireStart(actor, project, row)
        if (pending || isArchived(row.pipeline, settings.values)) throw badRequest('Unplayable Job')
        if (row.retried || !isPlayable({ status: row.status as Status, when: row.run_when })) {
          throw badRequest('Unplayable Job')
        }
        if (await isOvertaken(db.reader, project, row.id)) throw badRequest('Unplayable Job')
        const variables = (params.job_variables_attributes ?? []).map(({ key, value }, index) => {
          if (!/^\w{1,255}$/.test(key))
            throw invalidParameters([`job_variables_attributes[${index}][key] is invalid`])
          return { key, secret: cipher.seal(value, pipelineSecretContext) }
        })
        const status = row.resource_group === null ? 'pending' : 'waiting_for_resource'
        const played = await process.enqueueJob(
          row.pipeline.id,
          row.id,
          ['manual', 'scheduled', 'skipped'],
          status,
          (tx) => store.setPlayed(tx, row.id, actor.user!.id, variables),
        )
        if (!played) throw badRequest('Unplayable Job')
        return shown(row.id, project)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/erase',
      summary: "Remove a job's log and artifacts",
      may: 'update_pipeline',
      params,
      refuses: { 403: 'The job has not run and ended, was erased, or is of somebody else' },
      read: ({ params }) => store.one(params.job_id),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        if (row.user_id !== actor.user!.id && !may(actor, 'erase_any_job', project)) throw forbidden()
        const ended = isCompleted(row.status as Status) && !isArchived(row.pipeline, settings.values)
        // What never ran has nothing to erase, and may run yet.
        if (!ended || row.started_at === null || row.erased_at !== null)
          throw forbidden('Job is not erasable!')
        await db.transaction(async (tx) => {
          const digests = await store.eraseJob(tx, row.id)
          await removeFilesLater(tx, { digests, jobs: [row.id] })
        })
        return shown(row.id, project)
      },
    }),

    endpoint({
      ...about,
      path: '/projects/:id/jobs/:job_id/artifacts/keep',
      summary: "Keep a job's artifacts for ever",
      may: 'update_pipeline',
      status: 200,
      params,
      read: ({ params }) => store.one(params.job_id),
      async handle({ project, rows }) {
        if (rows[0]!.artifacts.length === 0) throw notFound()
        await db.transaction((tx) => artifacts.keep(tx, rows[0]!.id))
        return shown(rows[0]!.id, project)
      },
    }),
  ]
}
