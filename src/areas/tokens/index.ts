import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { creatingEndpoints } from './routes/creating.ts'
import { impersonationEndpoints } from './routes/impersonation.ts'
import { personalEndpoints } from './routes/personal.ts'
import { resourceEndpoints } from './routes/resource.ts'
import { selfEndpoints } from './routes/self.ts'
import type { TokenServices } from './services.ts'

export { createAccessToken, type NewToken } from './create.ts'
export { lifeOf } from './rules.ts'
export { AccessToken, NewAccessToken } from './entities.ts'
export { issue as issueToken } from './issue.ts'
export { newTokenParams, rotationParams, tokenFilters } from './params.ts'
export { revokeTokenOf, rotateTokenOf } from './of-user.ts'
export { listWhere as listTokensOf } from './store.ts'
export { administratorScopes, tokenScopes, type TokenScope } from './scopes.ts'

/** Access tokens of people, and of the bots of projects and groups. */
export function tokens(services: TokenServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...personalEndpoints(services),
      ...selfEndpoints(services),
      ...creatingEndpoints(services),
      ...impersonationEndpoints(services),
      ...resourceEndpoints('project', services),
      ...resourceEndpoints('group', services),
    ],
  }
}
