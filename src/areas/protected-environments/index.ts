import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { explanationEndpoint } from './explain.ts'
import { protectionEndpoints } from './routes.ts'

export { approvalRulesJson, levelDescription, type ApprovalRuleRow } from './entities.ts'
export {
  admittingRules,
  heldJobs,
  heldNewJobs,
  isRefused,
  refusedJobs,
  verdictOnJob,
  type Hold,
  type NewDeployingJob,
} from './verdicts.ts'

export interface ProtectionServices {
  readonly db: Database
  readonly plan: Plan
}

/** Protected environments: who may deploy where, and who has to approve it. */
export function protectedEnvironments(services: ProtectionServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...protectionEndpoints('project', services),
      ...protectionEndpoints('group', services),
      explanationEndpoint(services),
    ],
  }
}
