import type { SignInServices } from '../sessions/index.ts'
import type { IdentityTokens } from '../identity-tokens/index.ts'

/** What the area is built from. */
export interface OAuthServices extends SignInServices {
  readonly identity: IdentityTokens
}
