import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { groupPlace, projectPlace } from './places.ts'
import { milestoneEndpoints, promotionEndpoint, type MilestoneServices } from './routes.ts'
import { mendMilestonesAfterTransfers } from './transfers.ts'

export { groupPlace, projectPlace, type Place } from './places.ts'
export type { MilestoneEvent } from './news.ts'
export { requireMilestone, searched as searchMilestones } from './store.ts'
export { milestone, Milestone, milestoneJson, type MilestoneRow } from './entities.ts'

/** Milestones of projects and groups. */
export function milestones(services: MilestoneServices): {
  endpoints: Endpoint[]
} {
  mendMilestonesAfterTransfers(services)
  return {
    endpoints: [
      ...milestoneEndpoints(services, projectPlace),
      ...milestoneEndpoints(services, groupPlace),
      promotionEndpoint(services),
    ],
  }
}
