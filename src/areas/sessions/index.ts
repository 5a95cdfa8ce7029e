import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { mountSignIn, type PageServices } from './page-routes.ts'
import { sessionEndpoints } from './routes.ts'
import { removeEnded } from './store.ts'

export { confirmsPassword, passwordsForGit } from './passwords.ts'

const forgetting = 'forget-ended-sessions'

/** Sign-in of browsers by password and second factor, and the sessions that come of it. */
export function sessions(services: PageServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    endpoints: sessionEndpoints(services),
    mount: (server) => mountSignIn(server, services),
    // An ended session opens nothing; this only tidies up.
    tasks: [{ name: forgetting, run: () => services.db.transaction(removeEnded) }],
    schedules: [{ task: forgetting, pattern: '35 0 * * *' }],
  }
}
