import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { InvitingServices } from './invite.ts'
import { reminders } from './mails.ts'
import { invitationEndpoints } from './routes.ts'
import { removeOld } from './store.ts'

export { invitationOfMail } from './mails.ts'
export { markUndeliverable } from './store.ts'

const forgetting = 'forget-old-invitations'
const daysKept = 90

/** Invitations of addresses; they become memberships when somebody signs up with one (`users/create.ts`). */
export function invitations(
  services: InvitingServices & { readonly plan: Plan; readonly settings: Settings },
): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const { db, plan } = services
  const { tasks, schedules } = reminders(services)
  return {
    endpoints: (['group', 'project'] as const).flatMap((kind) =>
      invitationEndpoints(kind, {
        ...services,
        paid: offers(plan, 'member_fields'),
        customRoles: offers(plan, 'member_roles'),
      }),
    ),
    tasks: [...tasks, { name: forgetting, run: () => removeOld(db.writer, daysKept) }],
    schedules: [...schedules, { task: forgetting, pattern: '20 0 * * *' }],
  }
}
