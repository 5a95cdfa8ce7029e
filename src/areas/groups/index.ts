import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { groupEndpoints, type GroupServices } from './routes.ts'

/** Groups: what projects and members are kept in. */
export function groups(services: GroupServices): { endpoints: Endpoint[] } {
  return { endpoints: groupEndpoints(services) }
}
