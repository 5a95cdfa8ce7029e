import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { catalogueEndpoints } from './catalogue-routes.ts'
import { settingEndpoints } from './routes.ts'
import { historyEndpoints } from './history-routes.ts'

export interface SettingAreaServices {
  readonly db: Database
  readonly settings: Settings
  readonly plan: Plan
  readonly externalUrl: () => string
  /** Names of the configured storages. */
  readonly storages: readonly string[]
  /** Whether answers repeat settings under the vendor's names. */
  readonly vendorFieldNames: boolean
}

/** The settings of the instance: read, changed, their history, and back to an earlier state. */
export function applicationSettings(services: SettingAreaServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...settingEndpoints(services),
      ...historyEndpoints(services),
      ...catalogueEndpoints(services),
    ],
  }
}
