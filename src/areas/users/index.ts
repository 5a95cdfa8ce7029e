import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { accountEndpoints } from './routes/account.ts'
import { activityEndpoints } from './routes/activity.ts'
import { emailEndpoints } from './routes/emails.ts'
import { followEndpoints } from './routes/follows.ts'
import { identityEndpoints } from './routes/identities.ts'
import { readingEndpoints } from './routes/reading.ts'
import { stateEndpoints } from './routes/states.ts'
import { statusEndpoints } from './routes/statuses.ts'
import { writingEndpoints } from './routes/writing.ts'
import type { UserServices } from './services.ts'
import { upkeep } from './upkeep.ts'

export { admit, usualUser } from './admit.ts'
export { basicUser, BasicUser, basicUserJson, type BasicUserEntity, type BasicUserRow } from './basic.ts'
export { acceptInvitations, createBot, createUser, type NewUser } from './create.ts'
export { cleanName, freeName } from './free-name.ts'
export { identify, identityKey } from './identities.ts'
export { digestPassword, matchesPassword } from './password.ts'
export { findPasswordOwner, openPasswordLink, sendPasswordLink } from './password-links.ts'
export { sendConfirmation, type Addressee } from './email-confirmation.ts'
export { confirmFurtherEmail } from './email-store.ts'
export { removeUserById, type RemovalServices } from './remove.ts'
export { faultsOf, passwordFaults, passwordRules, startsExternal } from './rules.ts'
export { approveWaiting, endSessions, lock as lockUser, requireAdministrator, taken } from './store.ts'
export { reservedTopLevel } from './reserved.ts'

/** People and their accounts. */
export function users(services: UserServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    ...upkeep(services),
    endpoints: [
      ...readingEndpoints(services),
      ...writingEndpoints(services),
      ...stateEndpoints(services),
      ...activityEndpoints(services),
      ...accountEndpoints(services),
      ...emailEndpoints(services),
      ...statusEndpoints(services),
      ...followEndpoints(services),
      ...identityEndpoints(services),
    ],
  }
}
