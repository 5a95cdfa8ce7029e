import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { readingEndpoints } from './routes/reading.ts'
import { writingEndpoints } from './routes/writing.ts'
import { removeExpired } from './store.ts'

interface Services {
  readonly db: Database
  readonly externalUrl: () => string
  readonly plan: Plan
}

const expiry = 'remove-expired-members'

/** Members of groups and projects. A change is seen by the very next request: everything reads the rows. */
export function members({ db, externalUrl, plan }: Services): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const services = { db, externalUrl, paid: plan !== 'free' }
  return {
    endpoints: (['group', 'project'] as const).flatMap((kind) => [
      ...readingEndpoints(kind, services),
      ...writingEndpoints(kind, services),
    ]),
    // Access ends with the day itself; this only tidies up.
    tasks: [{ name: expiry, run: () => removeExpired(db.writer) }],
    schedules: [{ task: expiry, pattern: '10 0 * * *' }],
  }
}
