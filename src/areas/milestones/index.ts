import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { groupPlace, projectPlace } from './places.ts'
import { milestoneEndpoints, promotionEndpoint, type MilestoneServices } from './routes.ts'

export { milestone, Milestone, milestoneJson, type MilestoneRow } from './entities.ts'

/** Milestones of projects and groups. */
export function milestones(services: MilestoneServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [
      ...milestoneEndpoints(services, projectPlace),
      ...milestoneEndpoints(services, groupPlace),
      promotionEndpoint(services),
    ],
  }
}
