export { Events, type DomainEvent, type News } from './events.ts'
export { LeasedWork, type Leases } from './leased-work.ts'
export { enqueue, enqueued, type Schedule, type Task } from './tasks.ts'
export { migrateTasks, TaskWorker } from './worker.ts'
