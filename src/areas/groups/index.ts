import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { deletionTasks } from './deletion.ts'
import { groupEndpoints, type GroupServices } from './routes.ts'

export { createGroup } from './create.ts'
export type { GroupTransferred } from './transfer.ts'

/** Groups: what projects and members are kept in. */
export function groups(services: GroupServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  return { endpoints: groupEndpoints(services), ...deletionTasks(services) }
}
