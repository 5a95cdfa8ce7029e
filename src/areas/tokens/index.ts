import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import { creatingEndpoints } from './routes/creating.ts'
import { impersonationEndpoints } from './routes/impersonation.ts'
import { personalEndpoints } from './routes/personal.ts'
import { selfEndpoints } from './routes/self.ts'

export { createAccessToken, type NewToken } from './create.ts'
export { administratorScopes, tokenScopes, type TokenScope } from './scopes.ts'

/** Access tokens of people. */
export function tokens(services: { db: Database; settings: Settings }): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...personalEndpoints(services),
      ...selfEndpoints(services),
      ...creatingEndpoints(services),
      ...impersonationEndpoints(services),
    ],
  }
}
