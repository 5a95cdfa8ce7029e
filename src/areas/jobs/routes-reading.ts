import { endpoint, instance, may, project } from '../../access/index.ts'
import { statuses } from '../../ci/index.ts'
import { forbidden, unauthorized } from '../../kernel/errors/index.ts'
import {
  Fields,
  Flag,
  Id,
  keysetParams,
  ListOf,
  OneOf,
  Optional,
  Page,
  refuseDeepOffset,
  Text,
  wantsKeyset,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { readCursor, writeCursor } from '../../kernel/endpoint/pagination.ts'
import { mayUseTerminal, terminalPath } from '../terminals/index.ts'
import { Bridge, Job, JobDetails } from './entities.ts'
import type { JobServices } from './index.ts'
import { logAnswer } from './log-answer.ts'
import type { JobView } from './show.ts'
import * as store from './store.ts'
import type { Traces } from './traces.ts'

const scope = Optional(
  ListOf(OneOf(statuses, {}), { single: true, description: 'Only jobs in these statuses' }),
)

/** Whether one may read the jobs is told before whether the pipeline is there (conventions, 1.6). */
const abilityFirst: readonly Check[] = ['params', 'credentials', 'subject', 'may', 'record']

export function readingEndpoints(services: JobServices, view: JobView, traces: Traces): Endpoint[] {
  const { db } = services
  const ofPipeline = {
    method: 'GET',
    on: project,
    may: 'read_job',
    anonymous: true,
    jobToken: true,
    checks: abilityFirst,
    record: true,
    paged: true,
  } as const
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/jobs',
      summary: 'List the jobs of a project',
      on: project,
      may: 'read_job',
      paged: true,
      params: Fields({
        scope,
        ...keysetParams,
        order_by: Optional(OneOf('id')),
        sort: Optional(OneOf('asc', 'desc')),
      }),
      answers: ListOf(Job),
      refuses: { 405: 'The offset is too deep', 429: 'Over 600 calls a minute' },
      read({ params, page }) {
        const keyset = wantsKeyset(params, params.sort !== 'asc')
        if (!keyset) refuseDeepOffset(page, 'Ci::Build')
        const before = !keyset
          ? undefined
          : params.cursor === undefined
            ? params.id_after
            : Number(readCursor(params.cursor, ['id']).id)
        return store.ofProject(
          { scope: params.scope, before },
          keyset ? { ...page, offset: 0 } : page,
          keyset,
        )
      },
      async handle({ project, params, rows }) {
        const shown = await view.all(rows, project)
        if (params.pagination !== 'keyset') return shown
        const last = rows.at(-1)
        const next = last?.has_next === true ? { cursor: writeCursor({ id: last.id }) } : undefined
        return new Page(shown, { keyset: true, next })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/jobs/:job_id',
      pollable: 10_000,
      summary: 'Get a job',
      on: project,
      may: 'read_job',
      record: true,
      params: Fields({ job_id: Id() }),
      answers: JobDetails,
      read: ({ params }) => store.details(params.job_id),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        const shown = await view.one(row, project)
        if (!row.has_terminal) return { ...shown, has_terminal: undefined }
        const opens = await mayUseTerminal(services, db.reader, actor, project, row)
        return opens ? { ...shown, terminal_path: terminalPath(project.fullPath, row.id) } : shown
      },
    }),

    endpoint({
      method: 'GET',
      path: '/projects/:id/jobs/:job_id/trace',
      summary: 'Get the log of a job',
      on: project,
      may: 'read_job',
      record: true,
      params: Fields({ job_id: Id() }),
      description: 'Of a part, with the header `Range`: 206.',
      answers: Text({ description: 'text/plain' }),
      refuses: { 416: 'The log is shorter' },
      read: ({ params }) => store.one(params.job_id),
      async handle({ actor, project, rows, request }) {
        const { id, debug_trace } = rows[0]!
        if (debug_trace && !may(actor, 'read_job_debug_trace', project)) throw forbidden()
        traces.watch(id)
        return logAnswer(traces, id, request.headers.range)
      },
    }),

    endpoint({
      ...ofPipeline,
      path: '/projects/:id/pipelines/:pipeline_id/jobs',
      pollable: 10_000,
      summary: 'List the jobs of a pipeline',
      params: Fields({ pipeline_id: Id(), scope, include_retried: Flag({ default: false }) }),
      answers: ListOf(Job),
      read: ({ params, page }) =>
        store.ofPipeline(
          params.pipeline_id,
          { kind: 'build', scope: params.scope, retried: params.include_retried },
          page,
        ),
      async handle({ project, rows, page }) {
        const { jobs, total } = rows[0]!
        return new Page(await view.all(jobs, project), { total, hasMore: total > page.offset + page.limit })
      },
    }),

    endpoint({
      ...ofPipeline,
      path: '/projects/:id/pipelines/:pipeline_id/bridges',
      summary: 'List the trigger jobs of a pipeline',
      params: Fields({ pipeline_id: Id(), scope }),
      answers: ListOf(Bridge),
      read: ({ params, page }) =>
        store.ofPipeline(params.pipeline_id, { kind: 'bridge', scope: params.scope, retried: false }, page),
      async handle({ project, rows, page }) {
        const { jobs, total } = rows[0]!
        return new Page(await view.all(jobs, project), { total, hasMore: total > page.offset + page.limit })
      },
    }),

    endpoint({
      method: 'GET',
      path: '/job',
      summary: 'Get the job whose token is shown',
      on: instance,
      may: 'use_instance',
      jobToken: true,
      params: Fields({}),
      answers: Job,
      read: () => store.ofToken(),
      async handle({ actor, rows }) {
        const row = rows[0]
        if (actor.job === null || row === undefined) throw unauthorized()
        return view.one(row, row.shown_in)
      },
    }),
  ]
}
