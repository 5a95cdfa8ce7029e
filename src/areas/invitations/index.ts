import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { invitationEndpoints } from './routes.ts'
import { removeOld } from './store.ts'

const forgetting = 'forget-old-invitations'
const daysKept = 90

/** Invitations of addresses; they become memberships when somebody signs up with one (`users/create.ts`). */
export function invitations({
  db,
  plan,
  settings,
}: {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Settings
}): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    endpoints: (['group', 'project'] as const).flatMap((kind) =>
      invitationEndpoints(kind, { db, settings, paid: plan !== 'free', customRoles: plan === 'ultimate' }),
    ),
    tasks: [{ name: forgetting, run: () => removeOld(db.writer, daysKept) }],
    schedules: [{ task: forgetting, pattern: '20 0 * * *' }],
  }
}
