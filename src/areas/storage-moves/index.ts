import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { moveAllTask } from './many.ts'
import { moveTasks } from './move.ts'
import { storageMoveEndpoints, type StorageMoveServices } from './routes.ts'

/** On which storage repositories lie, and how they come to another one. */
export function storageMoves(services: StorageMoveServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  const { tasks, schedules } = moveTasks(services)
  return { endpoints: storageMoveEndpoints(services), tasks: [...tasks, moveAllTask(services)], schedules }
}
