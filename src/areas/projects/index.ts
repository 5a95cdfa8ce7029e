import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { projectEndpoints, type ProjectServices } from './routes.ts'

export { Project, project as projectEntity } from './entities.ts'
export type { ProjectRow } from './rows.ts'
export { embeddedProjects } from './store.ts'

/** Projects: what holds a repository, its pipelines and their settings. */
export function projects(services: ProjectServices): { endpoints: Endpoint[] } {
  return { endpoints: projectEndpoints(services) }
}
