import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { followEvents } from './from-events.ts'
import { activityEndpoints } from './routes.ts'

export interface ActivityServices {
  readonly db: Database
  readonly settings: Settings
  readonly places: RepositoryPlaces
  readonly externalUrl: () => string
}

/** What people did in projects, listed as it happens. */
export function activities(services: ActivityServices & { readonly events: Events }): {
  endpoints: Endpoint[]
} {
  followEvents(services)
  return { endpoints: activityEndpoints(services) }
}
