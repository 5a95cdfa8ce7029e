import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { epicEndpoints } from './routes.ts'
import { treeEndpoints } from './tree.ts'

export interface EpicServices {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
}

/** Epics of groups: what issues and other epics are gathered in. */
export function epics(services: EpicServices): { endpoints: Endpoint[] } {
  return { endpoints: [...epicEndpoints(services), ...treeEndpoints(services)] }
}
