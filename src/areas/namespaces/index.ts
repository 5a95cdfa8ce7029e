import type { Endpoint } from '../../kernel/endpoint/index.ts'
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
export function namespaces(services: NamespaceServices): { endpoints: Endpoint[] } {
  return { endpoints: namespaceEndpoints(services) }
}
