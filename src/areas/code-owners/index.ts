import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { codeOwnerEndpoints, type CodeOwnerServices } from './routes.ts'

export { codeOwnerGuard } from './guard.ts'
export { ownersOfPaths, unnamedSection, type OwnedPaths } from './owned.ts'

/** Who has a say in which files of a project. */
export function codeOwners(services: CodeOwnerServices): { endpoints: Endpoint[] } {
  return { endpoints: codeOwnerEndpoints(services) }
}
