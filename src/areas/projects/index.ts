import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { deletionTasks } from './deletion.ts'
import { fetchStatistics } from './fetches.ts'
import { forkEndpoints } from './fork-routes.ts'
import { inactiveTasks, type InactiveServices } from './inactive.ts'
import { followLandmarks } from './landmarks.ts'
import { listEndpoints } from './list-routes.ts'
import { movingEndpoints } from './moving-routes.ts'
import { peopleEndpoints } from './people.ts'
import { projectEndpoints, type ProjectServices } from './routes.ts'
import { sharingEndpoints } from './sharing.ts'
import { snapshotEndpoint } from './snapshot.ts'
import { statisticsTasks } from './statistics.ts'
import { starEndpoints } from './stars.ts'

export { homeColumns, homeEntity, type HomeRow } from './home.ts'
export { basicProject, contextOf, type ContextServices } from './entities.ts'
export { BasicProject } from './shapes.ts'
export { searched as searchProjects } from './listing.ts'
export { createProject } from './create.ts'
export { creatableAt, createByPush, isMadeByPushOf, type PushedTo } from './push-to-create.ts'
export { removeRepositoriesBelow, type Permanently } from './deletion.ts'
export { fetchCounter } from './fetches.ts'
export { cloneRoot, project as projectEntity } from './entities.ts'
export { showProjects, type ShowServices } from './shown.ts'
export { Project } from './shapes.ts'
export { unlinkOpenForks } from './forking.ts'
export { markedOn } from './marked.ts'
export { deletionMarkOf } from './deletion-mark.ts'
export { permanentlyParams } from './params.ts'
export { subjectProject, type OwnProjectRow, type ProjectRow } from './rows.ts'
export { allSettings } from './settings.ts'
export {
  GroupStatistics,
  groupStatisticsColumn,
  groupStatisticsEntity,
  type GroupStatisticsRow,
} from './statistics.ts'
export { embeddedProjects } from './store.ts'
export { takeIntoGroup, type ProjectTransferred } from './transfer.ts'

/** Projects: what holds a repository, its pipelines and their settings. */
export function projects(services: ProjectServices & Pick<InactiveServices, 'mail'>): {
  endpoints: Endpoint[]
  tasks: Task<never>[]
  schedules: Schedule[]
} {
  const deletion = deletionTasks(services)
  const inactive = inactiveTasks(services)
  const statistics = statisticsTasks(services)
  const fetches = fetchStatistics(services)
  followLandmarks(services)
  return {
    endpoints: [
      ...projectEndpoints(services),
      ...listEndpoints(services),
      ...forkEndpoints(services),
      ...movingEndpoints(services),
      ...starEndpoints(services),
      ...peopleEndpoints(services),
      ...sharingEndpoints(services),
      snapshotEndpoint(services),
      ...statistics.endpoints,
      ...fetches.endpoints,
    ],
    tasks: [
      ...deletion.tasks,
      ...([...inactive.tasks, ...statistics.tasks, ...fetches.tasks] as Task<never>[]),
    ],
    schedules: [...deletion.schedules, ...inactive.schedules, ...statistics.schedules, ...fetches.schedules],
  }
}
