import { sql } from 'kysely'
import { offers } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import { pullTask, pullWork, type PullServices } from './pull.ts'
import { pullMirrorEndpoints } from './pull-routes.ts'
import { enqueuePush, pushTask, pushWork } from './push.ts'
import { pushMirrorEndpoints, type MirrorServices } from './routes.ts'
import { MirrorRunner } from './runner.ts'
import * as store from './store.ts'

export { changePullMirror, type PullChange, type PullChangeServices } from './pull-changes.ts'

const mindTask = 'mirrors:mind'

/** Repositories elsewhere that are kept as a project's is, or that a project follows. */
export function mirrors(services: MirrorServices & PullServices & { readonly events: Events }): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, events, plan } = services
  const pushing = new MirrorRunner(pushWork(services), services)
  const pulling = new MirrorRunner(pullWork(services), services)
  const pulls = offers(plan, 'pull_mirrors')
  events.subscribe(
    'push',
    'mirrors:ask',
    async ({ projectId }) => {
      for (const due of await store.askAll(db.writer, projectId!)) await enqueuePush(db.writer, due)
    },
    {
      when: sql`exists (select from push_mirrors m where m.project_id = event.project_id and m.enabled)`,
    },
  )
  return {
    endpoints: [...pushMirrorEndpoints(services), ...pullMirrorEndpoints(services)],
    tasks: [
      { name: pushTask, run: () => pushing.look() },
      { name: pullTask, run: async () => (pulls ? pulling.look() : undefined) },
      {
        // What is due by the clock, what a node that died has left, and what silence kept back.
        name: mindTask,
        async run() {
          await pushing.look()
          if (pulls) await pulling.look()
        },
      },
    ],
    schedules: [{ task: mindTask, pattern: '* * * * *' }],
    async start() {
      const stack = new AsyncDisposableStack()
      stack.use(pushing)
      stack.use(pulling)
      return stack
    },
  }
}
