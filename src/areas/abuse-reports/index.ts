import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Settings } from '../../settings/index.ts'
import { abuseReportEndpoints } from './routes.ts'

export interface AbuseReportServices {
  readonly db: Database
  readonly settings: Pick<Settings, 'values'>
  readonly mail: Mailer
  readonly externalUrl: () => string
}

/** What users report of one another, for administrators to look at. */
export function abuseReports(services: AbuseReportServices): { endpoints: Endpoint[] } {
  return { endpoints: abuseReportEndpoints(services) }
}
