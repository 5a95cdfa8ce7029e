import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { PipelineCreator } from '../pipelines/index.ts'
import { firingEndpoints } from './routes-firing.ts'
import { managingEndpoints } from './routes-managing.ts'
import * as store from './store.ts'

export interface TriggerServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly externalUrl: () => string
  readonly creator: PipelineCreator
  readonly settings: Settings
  readonly plan: Plan
}

/** Tokens that start a pipeline of a project in the name of their owner. */
export function triggers(services: TriggerServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
} {
  return {
    endpoints: [...managingEndpoints(services), ...firingEndpoints(services)],
    tasks: [{ name: removeEnded, run: () => store.removeEnded(services.db.writer) }],
    schedules: [{ task: removeEnded, pattern: '41 3 * * *' }],
  }
}

const removeEnded = 'triggers:remove-ended'
