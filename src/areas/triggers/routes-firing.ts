import { endpoint, instance } from '../../access/index.ts'
import { forbidden, invalid, refused, unprocessable } from '../../kernel/errors/index.ts'
import {
  Fields,
  Hash,
  Json,
  Optional,
  Text,
  type Check,
  type Endpoint,
  type RequestFacts,
} from '../../kernel/endpoint/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { findPipeline, PipelineActed, pipelineDetail, type GivenVariable } from '../pipelines/index.ts'
import type { TriggerServices } from './index.ts'
import { payloadOf } from './rules.ts'
import { starterOf } from './starter.ts'
import * as store from './store.ts'

/** The token in the parameters says everything; no other credentials are asked for, nor looked at. */
const checks: readonly Check[] = ['params']

const fields = Fields({
  id: Text(),
  ref: Text({ blank: false, description: 'Branch or tag' }),
  token: Text({ description: 'A trigger token, or that of a running job' }),
  variables: Optional(Hash(Json(), { description: 'Texts by their names' })),
  inputs: Optional(Hash(Json(), { description: 'Needs the flag ci_inputs_for_pipelines' })),
})

export function firingEndpoints(services: TriggerServices): Endpoint[] {
  const { db, creator } = services
  const firing = <const Path extends string>(path: Path, summary: string): Endpoint =>
    endpoint({
      method: 'POST',
      path,
      summary,
      description:
        'All parameters but the token reach the pipeline as `TRIGGER_PAYLOAD`, so that the address can be called by a webhook.',
      on: instance,
      may: 'use_instance',
      anonymous: true,
      checks,
      params: fields,
      answers: PipelineActed,
      refuses: {
        400: 'The pipeline cannot be created; `base` says why',
        401: 'The job is not running',
        403: 'A webhook about a pipeline would start the next one',
        404: 'No such project, or no such token of it',
        422: 'The configuration is wrong; a failed pipeline says so',
      },
      read: ({ params }) => store.lookUp(params.id, digestToken(params.token)),
      async handle({ params, rows, request }) {
        refuseLoop(request)
        const variables = variablesOf(params.variables ?? {})
        const starter = await starterOf(db, rows[0], digestToken(params.token))
        const made = await creator.createOnRef({
          ...starter,
          ref: params.ref,
          variables,
          inputs: params.inputs,
          payload: payloadOf(request.sent),
          storesErrors: true,
        })
        if ('refused' in made) throw invalid({ base: [made.refused ?? ''] })
        if (made.broken !== undefined) throw unprocessable({ base: [made.broken] })
        const row = await findPipeline(db.reader, made.id)
        if (row === undefined) throw forbidden()
        return pipelineDetail(row, starter.project, services)
      },
    })
  return [
    firing('/projects/:id/trigger/pipeline', 'Start a pipeline with a token'),
    firing('/projects/:id/ref/:ref/trigger/pipeline', 'Start a pipeline with a token on the ref of the path'),
  ]
}

/** Our own hook about pipelines, sent to our own trigger, would never end. */
function refuseLoop({ headers }: RequestFacts): void {
  if (headers['x-gitlab-event'] === 'Pipeline Hook') throw forbidden()
}

function variablesOf(given: Readonly<Record<string, unknown>>): GivenVariable[] {
  return Object.entries(given).map(([key, value]) => {
    if (typeof value !== 'string') {
      throw refused(400, 'variables needs to be a map of key-valued strings')
    }
    return { key, value, variable_type: 'env_var' }
  })
}
