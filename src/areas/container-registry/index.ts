import type { Content, Uploads } from '../../blobs/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { CleanupServices } from './cleanup.ts'
import { repositoryEndpoints, type RegistryRestServices } from './routes-repositories.ts'
import { tagEndpoints } from './routes-tags.ts'
import { registrySchedules, registryTasks } from './tasks.ts'

export { collect, wouldCollect, type Collected } from './collect.ts'
export { runPolicies } from './cleanup.ts'

export interface ContainerRegistryServices extends RegistryRestServices, CleanupServices {
  readonly images: RegistryRestServices['images'] & {
    readonly content: Content
    readonly uploads: Uploads
    /** Hours that garbage collection leaves alone what somebody had to do with. */
    readonly grace: number
  }
}

/** The repositories of container images over REST, their cleanup policies and garbage collection. */
export function containerRegistry(services: ContainerRegistryServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: readonly Schedule[]
} {
  return {
    endpoints: [...repositoryEndpoints(services), ...tagEndpoints(services)],
    tasks: registryTasks({ ...services, ...services.images }),
    schedules: registrySchedules,
  }
}
