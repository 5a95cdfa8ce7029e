import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { mostSeats } from './most-seats.ts'
import { namespaceEndpoints, type NamespaceServices } from './routes.ts'

export { BriefNamespace, briefNamespace } from './entities.ts'
export { lineName } from './line-name.ts'
export { projectIdentity } from './project-identity.ts'
export {
  groupNameFaults,
  groupPathFaults,
  projectNameFaults,
  projectPathFaults,
  reservedInside,
  slug,
} from './path-rules.ts'
export {
  claimPath,
  isTaken,
  lockTree,
  lockTrees,
  moveNamespace,
  movePath,
  pathFault,
  PathTaken,
  PathTooLong,
  renameNamespace,
} from './paths.ts'
export { seatHolders } from './seats.ts'

/** Namespaces: personal ones and groups, and the one name space of paths. */
export function namespaces(services: NamespaceServices & { readonly db: Database }): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  return { endpoints: namespaceEndpoints(services), ...mostSeats(services) }
}
