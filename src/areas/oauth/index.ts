import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { applicationEndpoints } from './application-routes.ts'
import { mountDiscovery } from './discovery.ts'
import { removeEnded } from './grants.ts'
import { mountInspection } from './inspection.ts'
import { mountAuthorize } from './pages/authorize.ts'
import { mountDevice } from './pages/device.ts'
import { mountOwnApplications } from './pages/own-applications.ts'
import type { OAuthServices } from './services.ts'
import { mountTokenRoute } from './token-route.ts'

/** For other pages that are made for who is signed in. */
export { csrfField, problemPage } from './pages/forms.ts'
export { formOf, visitorOf, type SignedInVisitor } from './visitor.ts'

const forgetting = 'oauth:forget-ended'

/** Lets people give applications tokens of theirs without showing them their password (OAuth 2, OpenID Connect). */
export function oauth(services: OAuthServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    endpoints: applicationEndpoints(services),
    mount(server) {
      mountAuthorize(server, services)
      mountTokenRoute(server, services)
      mountInspection(server, services)
      mountDevice(server, services)
      mountOwnApplications(server, services)
      mountDiscovery(server, services)
    },
    tasks: [{ name: forgetting, run: () => services.db.transaction(removeEnded) }],
    schedules: [{ task: forgetting, pattern: '50 0 * * *' }],
  }
}
