export { Events, type DomainEvent } from './events.ts'
export { enqueue, migrateTasks, TaskWorker, type Schedule, type Task } from './tasks.ts'
