import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { readingEndpoints } from './routes/reading.ts'
import { stateEndpoints } from './routes/states.ts'
import { writingEndpoints } from './routes/writing.ts'
import { levelsWithoutSeat } from './rules.ts'
import { removeExpired } from './store.ts'

export { addOne, addSeveral } from './add.ts'
export { memberEntity, Member } from './entities.ts'
export { refuseLocked } from './lock.ts'
export { accessLevel, membershipOptions, wishOf } from './params.ts'
export { placeColumn, placeOf, requireAdministration, type Place } from './place.ts'
export {
  circumstancesOf,
  faultsOf,
  levelsWithoutSeat,
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
  readonly settings: Settings
  readonly externalUrl: () => string
  readonly plan: Plan
}

const expiry = 'remove-expired-members'

/** Members of groups and projects. A change is seen by the very next request: everything reads the rows. */
export function members({ db, settings, externalUrl, plan }: Services): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const services = {
    ...{ db, settings, externalUrl, paid: plan !== 'free', customRoles: plan === 'ultimate' },
    freeUpTo: levelsWithoutSeat(plan),
  }
  return {
    endpoints: (['group', 'project'] as const)
      .flatMap((kind) => [...readingEndpoints(kind, services), ...writingEndpoints(kind, services)])
      .concat(stateEndpoints(services)),
    // Access ends with the day itself; this only tidies up.
    tasks: [{ name: expiry, run: () => removeExpired(db.writer) }],
    schedules: [{ task: expiry, pattern: '10 0 * * *' }],
  }
}
