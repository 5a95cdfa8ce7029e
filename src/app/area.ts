import type { FastifyInstance } from 'fastify'
import type { Endpoint, Gatekeeper } from '../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../tasks/index.ts'

/** What an area brings into the service. */
export interface Area {
  readonly endpoints?: readonly Endpoint[]
  readonly tasks?: readonly Task[]
  readonly schedules?: readonly Schedule[]
  /** Routes that are not of the REST API: git over HTTP, pages. What is let in as its endpoints are takes their gate. */
  readonly mount?: (server: FastifyInstance, gate: Gatekeeper) => void
  /** Looks at requests before all else does: for hosts that are not the service's own. */
  readonly mountHosts?: (server: FastifyInstance) => void
  /** Called once the service listens, for what runs beside requests; ended at stop. */
  readonly start?: () => Promise<AsyncDisposable>
}
