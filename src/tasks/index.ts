export { Events, type DomainEvent, type News } from './events.ts'
export { LeasedWork, type Leases } from './leased-work.ts'
export { enqueue, migrateTasks, TaskWorker, type Schedule, type Task } from './tasks.ts'
