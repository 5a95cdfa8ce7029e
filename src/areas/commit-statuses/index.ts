import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { PipelineProcess, RefProtection } from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { statusEndpoints } from './routes.ts'

export { report } from './reporting.ts'

export interface StatusServices {
  readonly db: Database
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
  readonly refProtection: RefProtection
  readonly process: PipelineProcess
}

/** What CI systems, others and ours, say of commits. */
export function commitStatuses(services: StatusServices): { endpoints: Endpoint[] } {
  return { endpoints: statusEndpoints(services) }
}
