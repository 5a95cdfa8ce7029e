import type { ProjectSubject } from '../../access/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import type { JobView } from '../jobs/index.ts'
import type { PipelineProcess, RefProtection } from '../pipelines/index.ts'
import type { ContextServices } from '../projects/index.ts'
import type { RefDoor, RepositoryPlaces } from '../repository/index.ts'
import { approvalEndpoint } from './routes-approvals.ts'
import { deploymentEndpoints } from './routes-deployments.ts'
import { environmentEndpoints } from './routes-environments.ts'
import { ShownDeployments } from './show.ts'
import { Stopping } from './stopping.ts'
import { environmentSchedules, environmentTasks } from './tasks.ts'

export { deployments } from './deployments.ts'
export type { DeploymentEvent } from './news.ts'

export interface EnvironmentServices extends ContextServices {
  readonly db: Database
  readonly events: Events
  readonly blobs: Blobs
  readonly places: RepositoryPlaces
  readonly door: RefDoor<ProjectSubject>
  readonly process: PipelineProcess
  readonly refProtection: RefProtection
  readonly view: JobView
}

/** Environments, and what is deployed to them by jobs or told of by others. */
export function environments(services: EnvironmentServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
} {
  const stopping = new Stopping(services)
  const shown = new ShownDeployments(services)
  return {
    endpoints: [
      ...environmentEndpoints(services, stopping, shown),
      ...deploymentEndpoints(services, shown),
      approvalEndpoint(services),
    ],
    tasks: environmentTasks(services, stopping),
    schedules: environmentSchedules,
  }
}
