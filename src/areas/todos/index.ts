import type { Database } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events } from '../../tasks/index.ts'
import { followEvents } from './from-events.ts'
import { todoEndpoints } from './routes.ts'
import type { TargetLoaders } from './targets.ts'

export { peopleMentioned, reads as readsSubject, readersAmong, type Subject } from './people.ts'
export { addTodos, finishTodos, type NewTodos, type TodoAction } from './store.ts'
export type { TargetLoader, TargetLoaders } from './targets.ts'

export interface TodoServices {
  readonly db: Database
  readonly events: Events
  readonly externalUrl: () => string
  /** How the areas of the things that to-dos are about show them. */
  readonly targets: TargetLoaders
}

/** To-dos: what waits for somebody. They are made of the news of the other areas, and done when he has acted. */
export function todos(services: TodoServices): { endpoints: Endpoint[] } {
  followEvents(services)
  return { endpoints: todoEndpoints(services) }
}
