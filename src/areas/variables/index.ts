import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'
import { groupPlace, instancePlace, projectPlace } from './places.ts'
import { variableEndpoints } from './routes.ts'

/** The place a variable's value is sealed for. */
export { secretContext as variableSecretContext, Variable, variable } from './entities.ts'
export { filter as variableFilter } from './routes.ts'
export { only as onlyVariable } from './rules.ts'
export { ofKey as variablesOfKey } from './store.ts'

export interface VariableServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
}

/** CI/CD variables of projects, of groups for all that lies in them, and of the instance. */
export function variables(services: VariableServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...variableEndpoints(services, projectPlace),
      ...variableEndpoints(services, groupPlace),
      ...variableEndpoints(services, instancePlace),
    ],
  }
}
