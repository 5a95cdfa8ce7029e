import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { deployTokenEndpoints, instanceEndpoint } from './routes.ts'

export { deployTokensForJobs } from './for-jobs.ts'
export { deployTokenLogin } from './machine-login.ts'

/** Tokens of projects and groups that stand for no user: they fetch code and images, and push images. */
export function deployTokens(services: { readonly db: Database; readonly cipher: Cipher }): {
  endpoints: Endpoint[]
} {
  return {
    endpoints: [
      instanceEndpoint(),
      ...(['project', 'group'] as const).flatMap((kind) => deployTokenEndpoints(kind, services)),
    ],
  }
}
