import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { groupPlace, instancePlace, projectPlace } from './places.ts'
import { variableEndpoints } from './routes.ts'

/** The place a variable's value is sealed for. */
export { secretContext as variableSecretContext } from './entities.ts'

/** CI/CD variables of projects, of groups for all that lies in them, and of the instance. */
export function variables(services: { db: Database; cipher: Cipher }): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...variableEndpoints(services, projectPlace),
      ...variableEndpoints(services, groupPlace),
      ...variableEndpoints(services, instancePlace),
    ],
  }
}
