import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { freezePeriodEndpoints } from './routes.ts'

export { isFrozen, type FreezePeriod } from './rules.ts'

/** Freeze periods: times in which nothing is to be deployed. Pipelines are told, and their rules decide. */
export function freezePeriods({ db }: { readonly db: Database }): { endpoints: Endpoint[] } {
  return { endpoints: freezePeriodEndpoints(db) }
}
