import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { PipelineCreator, RefProtection } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { scheduleEndpoints } from './routes.ts'
import { variableEndpoints } from './routes-variables.ts'
import { schedules, scheduleTasks } from './run.ts'

export interface ScheduleServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
  readonly refProtection: RefProtection
  readonly creator: PipelineCreator
  readonly settings: Settings
}

/** Pipelines that start at fixed times, in the name of whoever owns the schedule. */
export function pipelineSchedules(services: ScheduleServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
} {
  return {
    endpoints: [...scheduleEndpoints(services), ...variableEndpoints(services)],
    tasks: scheduleTasks(services),
    schedules,
  }
}
