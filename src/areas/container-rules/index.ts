import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { pathRuleEndpoints } from './routes.ts'
import { tagRuleEndpoints } from './tag-routes.ts'

export { matching, passes } from './rules.ts'
export { rulesOf } from './store.ts'
export { deniedPatterns, immutablePatterns, isDenied } from './tag-rules.ts'
export { tagRulesOf } from './tag-store.ts'

/** Rules that protect container repositories, and tags in them, of projects. */
export function containerRules(services: { db: Database; plan: Plan }): { endpoints: Endpoint[] } {
  return { endpoints: [...pathRuleEndpoints(services), ...tagRuleEndpoints(services)] }
}
