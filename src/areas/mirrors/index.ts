import { sql } from '../../kernel/db/index.ts'
import { offers } from '../../kernel/config/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import { importKind, importTask } from './import.ts'
import { pullKind, pullTask, type PullServices } from './pull.ts'
import { pullMirrorEndpoints } from './pull-routes.ts'
import { enqueuePush, pushKind, pushTask } from './push.ts'
import { pushMirrorEndpoints, type MirrorServices } from './routes.ts'
import * as store from './store.ts'
import { mirrorWork } from './work.ts'

// What other areas fetch repositories with.
export { loginOf, readAddress, webAddress, type Address } from './address.ts'
export type { BringLargeFiles, NewCommits } from './fetch-refs.ts'
export { HttpWire } from './http-wire.ts'
export { importRepository } from './import.ts'
export { MirrorProblem } from './problem.ts'
export { changePullMirror, type PullChange, type PullChangeServices } from './pull-changes.ts'

const mindTask = 'mirrors:mind'

/** Repositories elsewhere that are kept as a project's is, that a project follows, or that one is made from. */
export function mirrors(services: MirrorServices & PullServices & { readonly events: Events }): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, events, plan } = services
  const pushing = mirrorWork(pushKind(services), services)
  const pulling = mirrorWork(pullKind(services), services)
  const importing = mirrorWork(importKind(services), services)
  const pulls = offers(plan, 'pull_mirrors')
  events.subscribe(
    'push',
    'mirrors:ask',
    async ({ projectId }) => {
      await db.transaction(async (tx) => {
        for (const due of await store.askAll(tx, projectId!)) await enqueuePush(tx, due)
      })
    },
    {
      when: sql`exists (select from push_mirrors m where m.project_id = event.project_id and m.enabled)`,
    },
  )
  return {
    endpoints: [...pushMirrorEndpoints(services), ...pullMirrorEndpoints(services)],
    tasks: [
      { name: pushTask, run: () => pushing.wake() },
      { name: pullTask, run: async () => (pulls ? pulling.wake() : undefined) },
      { name: importTask, run: () => importing.wake() },
      {
        // What is due by the clock, what a node that died has left, and what silence kept back.
        name: mindTask,
        async run() {
          await pushing.wake()
          await importing.wake()
          if (pulls) await pulling.wake()
        },
      },
    ],
    schedules: [{ task: mindTask, pattern: '* * * * *' }],
    async start() {
      const stack = new AsyncDisposableStack()
      stack.use(pushing)
      stack.use(pulling)
      stack.use(importing)
      return stack
    },
  }
}
