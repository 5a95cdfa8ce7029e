import { endpoint, project, userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import { isRetryable, type Status } from '../../ci/index.ts'
import { forbidden, invalid, refused } from '../../kernel/errors/index.ts'
import {
  Fields,
  Hash,
  Id,
  Json,
  ListOf,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Check,
  type Endpoint,
} from '../../kernel/endpoint/index.ts'
import { isLonger } from '../../kernel/lib/characters.ts'
import { isArchived } from './archived.ts'
import type { PipelineCreator } from './create-pipeline.ts'
import { PipelineActed, PipelineDetail, pipelineDetail, type PipelineRow } from './entities.ts'
import { closedRollbacks } from './forward-deployment.ts'
import type { PipelineServices } from './index.ts'
import type { PipelineProcess } from './process-pipeline.ts'
import type { PipelineRemoval } from './removal.ts'
import * as store from './store.ts'

const checks: readonly Check[] = ['credentials', 'params', 'subject', 'record', 'may']

const longestName = 255

export function writingEndpoints(
  services: PipelineServices,
  creator: PipelineCreator,
  process: PipelineProcess,
  removal: PipelineRemoval,
): Endpoint[] {
  const { db, settings, refProtection, deployments } = services
  /** Being allowed to run pipelines is not enough on a protected ref. */
  const requireRef = async (actor: Actor, project: ProjectSubject, { run_ref: name, tag }: PipelineRow) => {
    if (!(await refProtection.mayRun(db.reader, actor, project, { name, tag }))) throw forbidden()
  }
  const now = async (project: ProjectSubject, id: number) => {
    const row = await store.find(db.reader, id)
    if (row === undefined) throw forbidden()
    return pipelineDetail(row, project, services)
  }
  const about = { on: project, checks, record: true, params: Fields({ pipeline_id: Id() }) } as const

  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/pipeline',
      summary: 'Create a pipeline for the head of a branch or tag',
      on: project,
      may: 'create_pipeline',
      checks: ['credentials', 'params', 'subject', 'may'],
      params: Fields({
        ref: Text({ blank: false, description: 'Branch or tag' }),
        variables: Optional(
          ListOf(
            Fields({
              key: Text(),
              value: Text(),
              variable_type: OneOf(['env_var', 'file'], { default: 'env_var' }),
            }),
          ),
        ),
        inputs: Optional(Hash(Json(), { description: 'Needs the flag ci_inputs_for_pipelines' })),
      }),
      answers: PipelineActed,
      refuses: { 400: 'The pipeline cannot be created; `base` says why' },
      async handle({ actor, project, params }) {
        const made = await creator.createOnRef({
          project,
          actor,
          source: 'api',
          ref: params.ref,
          variables: params.variables ?? [],
          inputs: params.inputs,
        })
        if ('refused' in made) throw invalid({ base: [made.refused ?? ''] })
        return now(project, made.id)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/pipelines/:pipeline_id/retry',
      summary: 'Retry the failed and canceled jobs of a pipeline',
      may: 'update_pipeline',
      answers: PipelineActed,
      read: ({ params }) => store.one(params.pipeline_id),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        await requireRef(actor, project, row)
        if (isArchived(row, settings.values)) throw forbidden()
        const user = userOf(actor).id
        const closed = (await deployments.refused(db.reader, row.id, user)).union(
          await closedRollbacks(db.reader, project, row.id),
        )
        await process.retry(
          row.id,
          (jobs) => {
            // What another system told is not ours to run again.
            const again = jobs.filter(
              ({ id, kind, status }) =>
                kind !== 'external' &&
                !closed.has(id) &&
                status !== 'success' &&
                isRetryable(status as Status),
            )
            return { ids: again.map(({ id }) => id), reopen: 'all' }
          },
          user,
        )
        return now(project, row.id)
      },
    }),

    endpoint({
      ...about,
      method: 'POST',
      path: '/projects/:id/pipelines/:pipeline_id/cancel',
      summary: 'Cancel the jobs of a pipeline',
      description: 'Answers 200 whatever state the pipeline is in.',
      may: 'cancel_pipeline',
      answers: PipelineActed,
      status: 200,
      read: ({ params }) => store.one(params.pipeline_id),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        await requireRef(actor, project, row)
        await process.cancel(row.id)
        return now(project, row.id)
      },
    }),

    endpoint({
      ...about,
      method: 'DELETE',
      path: '/projects/:id/pipelines/:pipeline_id',
      summary: 'Delete a pipeline with its jobs, logs and artifacts',
      description: 'Its child pipelines stay.',
      may: 'destroy_pipeline',
      answers: null,
      refuses: whenChanged,
      read: ({ params }) => store.one(params.pipeline_id),
      async handle({ project, rows, request }) {
        const row = rows[0]!
        requireUnmodified(request, row.updated_at)
        await removal.remove(project, row.id)
      },
    }),

    endpoint({
      ...about,
      method: 'PUT',
      path: '/projects/:id/pipelines/:pipeline_id/metadata',
      summary: 'Rename a pipeline',
      may: 'update_pipeline',
      jobToken: true,
      params: Fields({ pipeline_id: Id(), name: Text({ maxLength: longestName }) }),
      answers: PipelineDetail,
      read: ({ params }) => store.one(params.pipeline_id),
      async handle({ actor, project, rows, params }) {
        const row = rows[0]!
        await requireRef(actor, project, row)
        const name = params.name.trim()
        const wrong =
          name === ''
            ? 'short (minimum is 1 character)'
            : isLonger(name, longestName)
              ? `long (maximum is ${longestName} characters)`
              : undefined
        if (wrong !== undefined) throw refused(400, `Failed to update pipeline - Name is too ${wrong}`)
        await store.rename(db.writer, row.id, name)
        return now(project, row.id)
      },
    }),
  ]
}
