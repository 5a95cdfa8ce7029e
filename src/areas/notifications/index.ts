import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { settingEndpoints } from './routes.ts'

export interface NotificationServices {
  readonly db: Database
}

/** Who wants to be told of what. */
export function notifications(services: NotificationServices): { endpoints: Endpoint[] } {
  return { endpoints: settingEndpoints(services) }
}
