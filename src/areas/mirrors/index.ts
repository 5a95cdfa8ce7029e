import { sql } from 'kysely'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import { enqueueRun, PushRunner, runTask } from './push-runner.ts'
import { pushMirrorEndpoints, type MirrorServices } from './routes.ts'
import * as store from './store.ts'

const mindTask = 'mirrors:mind'

/** Repositories elsewhere that are kept as a project's is. */
export function mirrors(services: MirrorServices & { readonly events: Events }): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, events } = services
  const runner = new PushRunner(services)
  events.subscribe(
    'push',
    'mirrors:ask',
    async ({ projectId }) => {
      for (const due of await store.askAll(db.writer, projectId!)) await enqueueRun(db.writer, due)
    },
    {
      when: sql`exists (select from push_mirrors m where m.project_id = event.project_id and m.enabled)`,
    },
  )
  return {
    endpoints: pushMirrorEndpoints(services),
    tasks: [
      { name: runTask, run: () => runner.look() },
      // What a node that died has left, and what silence kept back.
      { name: mindTask, run: () => runner.look() },
    ],
    schedules: [{ task: mindTask, pattern: '* * * * *' }],
    start: async () => runner,
  }
}
