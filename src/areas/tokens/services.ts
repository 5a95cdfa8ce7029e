import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'

/** What the area is built from. */
export interface TokenServices {
  readonly db: Database
  readonly settings: Settings
  readonly plan: Plan
  readonly externalUrl: () => string
}
