import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { SignInCaptcha } from '../spam/index.ts'
import { mountSignIn } from './page-routes.ts'
import { mountPasswordPages } from './password-pages.ts'
import type { SignInServices } from './sign-in.ts'
import { sessionEndpoints } from './routes.ts'
import { removeEnded } from './store.ts'

export { cookieFor, cookieOf, cookiesOf, deviceIn, endedCookie } from './cookie.ts'
export { deviceOf } from './known-devices.ts'
export { readForm } from './form.ts'
export { isOwnPage } from './own-page.ts'
export { confirmsPassword, passwordsForGit } from './passwords.ts'
export { provesSecondFactor, renewRecoveryCodes } from './second-factor.ts'
export { byPassword, openSession, problemOf, provesCode, type SignInServices } from './sign-in.ts'
export {
  byId as accountById,
  byLogin as accountByLogin,
  close as closeSession,
  setPassword,
  type Account,
} from './store.ts'

const forgetting = 'forget-ended-sessions'

/** Sign-in of browsers by password and second factor, and the sessions that come of it. */
export function sessions(services: SignInServices & { readonly signInCaptcha: SignInCaptcha }): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    endpoints: sessionEndpoints(services),
    mount: (server) => {
      mountSignIn(server, services)
      mountPasswordPages(server, services)
    },
    // An ended session opens nothing; this only tidies up.
    tasks: [{ name: forgetting, run: () => services.db.transaction(removeEnded) }],
    schedules: [{ task: forgetting, pattern: '35 0 * * *' }],
  }
}
