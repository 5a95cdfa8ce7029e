import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { movesBranch, type PushEvent } from '../repository/index.ts'
import { policyEndpoints, type PolicyServices } from './routes.ts'
import { findSource } from './store.ts'
import { syncPolicies } from './sync.ts'

/** Policies: files in projects that say, for other projects and groups, who has to approve merge requests. */
export function securityPolicies(services: PolicyServices & { readonly events: Events }): {
  endpoints: Endpoint[]
} {
  services.events.subscribe<PushEvent>('push', 'security-policies', async ({ projectId, payload }) => {
    const source = projectId === null ? undefined : await findSource(services.db.reader, projectId)
    if (source !== undefined && movesBranch(payload, source.defaultBranch))
      await syncPolicies(services, source.id)
  })
  return {
    endpoints: [...policyEndpoints(services, 'project'), ...policyEndpoints(services, 'group')],
  }
}
