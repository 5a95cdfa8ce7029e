import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Events } from '../../tasks/index.ts'
import { flagEndpoints } from './routes.ts'
import { clientEndpoints } from './routes-clients.ts'
import { listEndpoints } from './routes-lists.ts'

export type { FlagEvent } from './news.ts'

export interface FlagServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly events: Events
  readonly externalUrl: () => string
}

/** Feature flags: what programs that a project deploys switch on, in which environments and for whom. */
export function featureFlags(services: FlagServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [...flagEndpoints(services), ...listEndpoints(services), ...clientEndpoints(services)],
  }
}
