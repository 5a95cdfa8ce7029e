import { levelsWithoutSeat } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Mailer } from '../../mail/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import { followMemberships } from './mails.ts'
import { importingEndpoint } from './routes/importing.ts'
import { readingEndpoints } from './routes/reading.ts'
import { stateEndpoints } from './routes/states.ts'
import { writingEndpoints } from './routes/writing.ts'
import { unassigning } from './unassign.ts'
import { upkeep } from './upkeep.ts'

export { addOne, addSeveral, type AdditionServices } from './add.ts'
export { memberEntity, Member } from './entities.ts'
export { keepersOf } from './keepers.ts'
export { refuseLocked, refuseNewcomers } from './lock.ts'
export { announceMemberships, newsPlace, type MembershipEvent } from './news.ts'
export { accessLevel, membershipOptions, wishOf } from './params.ts'
export { placeColumn, placeOf, requireAdministration, type Place } from './place.ts'
export {
  circumstancesOf,
  faultsOf,
  mostAtOnce,
  refuseChange,
  refuseFaults,
  refuseGrant,
  refuseTouch,
  sentence,
  tooManyNamed,
  unauthorizedText,
  type Candidate,
  type Held,
  type Wish,
} from './rules.ts'
export { candidates, isLocked, lockMember, lockOwners, memberRow, put, remove, removeBelow } from './store.ts'

interface Services {
  readonly db: Database
  readonly events: Events
  readonly mail: Mailer
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly plan: Plan
}

/** Members of groups and projects. A change is seen by the very next request: everything reads the rows. */
export function members(given: Services): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const { plan } = given
  if (given.mail.enabled) followMemberships(given)
  const { tasks, schedules } = upkeep(given)
  const services = {
    ...given,
    paid: offers(plan, 'member_fields'),
    customRoles: offers(plan, 'member_roles'),
    freeUpTo: levelsWithoutSeat(plan),
  }
  return {
    endpoints: (['group', 'project'] as const)
      .flatMap((kind) => [...readingEndpoints(kind, services), ...writingEndpoints(kind, services)])
      .concat(stateEndpoints(services), importingEndpoint(services)),
    tasks: [...tasks, unassigning(given.db)],
    schedules,
  }
}
