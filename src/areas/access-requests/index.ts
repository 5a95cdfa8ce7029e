import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events } from '../../tasks/index.ts'
import { accessRequestEndpoints } from './routes.ts'

interface Services {
  readonly db: Database
  readonly events: Events
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly plan: Plan
}

/** Access requests: users who ask to be let into a group or project. Whoever adds them answers, too. */
export function accessRequests(services: Services): { endpoints: Endpoint[] } {
  const paid = offers(services.plan, 'member_fields')
  return {
    endpoints: (['group', 'project'] as const).flatMap((kind) =>
      accessRequestEndpoints(kind, { ...services, paid }),
    ),
  }
}
