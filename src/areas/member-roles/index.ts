import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import { groupPlace, instancePlace } from './places.ts'
import { memberRoleEndpoints } from './routes.ts'

export { memberRole, MemberRole, roleJson, type MemberRoleRow } from './entities.ts'
export { find as findRole } from './store.ts'

/** Custom roles: a base role and permissions besides. Members, invitations and shares carry them. */
export function memberRoles(services: { readonly db: Database; readonly settings: Settings }): {
  endpoints: Endpoint[]
} {
  return {
    endpoints: [
      ...memberRoleEndpoints(services, instancePlace),
      ...memberRoleEndpoints(services, groupPlace),
    ],
  }
}
