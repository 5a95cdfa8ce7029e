import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { PipelineCreator } from '../pipelines/index.ts'
import { firingEndpoints } from './routes-firing.ts'
import { managingEndpoints } from './routes-managing.ts'

export interface TriggerServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly externalUrl: () => string
  readonly creator: PipelineCreator
}

/** Tokens that start a pipeline of a project in the name of their owner. */
export function triggers(services: TriggerServices): { endpoints: Endpoint[] } {
  return { endpoints: [...managingEndpoints(services), ...firingEndpoints(services)] }
}
