import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Task } from '../../tasks/index.ts'
import { removalTask } from './deletion.ts'
import { forkEndpoints } from './fork-routes.ts'
import { listEndpoints } from './list-routes.ts'
import { sharingEndpoints } from './sharing.ts'
import { projectEndpoints, type ProjectServices } from './routes.ts'

export { removeRepositoriesBelow } from './deletion.ts'
export { Project, project as projectEntity } from './entities.ts'
export type { ProjectRow } from './rows.ts'
export { allSettings } from './settings.ts'
export { embeddedProjects } from './store.ts'

/** Projects: what holds a repository, its pipelines and their settings. */
export function projects(services: ProjectServices): { endpoints: Endpoint[]; tasks: Task[] } {
  return {
    endpoints: [
      ...projectEndpoints(services),
      ...listEndpoints(services),
      ...forkEndpoints(services),
      ...sharingEndpoints(services),
    ],
    tasks: [removalTask(services)],
  }
}
