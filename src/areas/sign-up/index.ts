import type { FastifyInstance } from 'fastify'
import type { Schedule, Task } from '../../tasks/index.ts'
import { mountSignUp } from './pages.ts'
import type { SignUpServices } from './services.ts'
import { mountTerms } from './terms-pages.ts'
import { removeUnconfirmed } from './unconfirmed.ts'

export { isAdmitted } from './addresses.ts'

const removal = 'sign-up:remove-unconfirmed'

/** How people come by themselves: sign-up, the confirmation of their address, and the terms. */
export function signUp(services: SignUpServices): {
  mount: (server: FastifyInstance) => void
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    mount(server) {
      mountSignUp(server, services)
      mountTerms(server, services)
    },
    tasks: [{ name: removal, run: () => removeUnconfirmed(services) }],
    schedules: [{ task: removal, pattern: '25 * * * *' }],
  }
}
