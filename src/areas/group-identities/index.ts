import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { groupIdentityEndpoints } from './routes.ts'

/**
 * The identities of members at a group's own sign-in, and the accounts that are the group's. Only the store of them: the
 * sign-in itself is done by what stands before the service.
 */
export function groupIdentities(services: { readonly db: Database }): { endpoints: Endpoint[] } {
  return { endpoints: groupIdentityEndpoints(services) }
}
