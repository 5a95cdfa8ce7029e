import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { pushRuleEndpoints } from './routes.ts'

export { pushRuleGuard } from './guard.ts'
export { inherit as inheritPushRule } from './store.ts'

/** What commits, names and files must be like that come into projects. */
export function pushRules(services: { db: Database }): { endpoints: Endpoint[] } {
  return { endpoints: pushRuleEndpoints(services) }
}
