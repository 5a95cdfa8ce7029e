import type { Plan } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { RemovalServices } from '../users/index.ts'
import { groupEndpoints, instanceEndpoints } from './routes.ts'
import { tokenEndpoints } from './token-routes.ts'
import type { WriteServices } from './write.ts'

export interface ServiceAccountServices extends WriteServices, RemovalServices {
  readonly plan: Plan
}

/** Users for machines: of the instance, made by administrators, or of a top-level group, made by its Owners. */
export function serviceAccounts(services: ServiceAccountServices): { endpoints: Endpoint[] } {
  return {
    endpoints: [...instanceEndpoints(services), ...groupEndpoints(services), ...tokenEndpoints(services)],
  }
}
