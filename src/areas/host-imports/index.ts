import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { enqueue, LeasedWork, type Schedule, type Task } from '../../tasks/index.ts'
import { removeLeftFolders } from '../project-archives/index.ts'
import { wakeTask } from './begin.ts'
import { bitbucketEndpoints } from './bitbucket/routes.ts'
import { bitbucketServerEndpoints } from './bitbucket-server/routes.ts'
import { githubEndpoints } from './github/routes.ts'
import { settingsOf } from './hosts.ts'
import { runStep } from './run.ts'
import type { HostImportRoom, HostImportServices } from './services.ts'
import * as store from './step-store.ts'
import { workplaceOf } from './work.ts'

const tidying = 'host-imports:remove-leftovers'
const day = 86_400_000

/** Projects brought here from hosts of other kinds, over their public APIs. */
export function hostImports(services: HostImportServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, settings, log } = services
  const room: HostImportRoom = { ...services, workplace: workplaceOf(services.dataDirectory) }
  const work = new LeasedWork<store.Step>({
    log,
    atOnce: 8,
    claim: (seconds) =>
      store.claim(db, seconds, {
        github: settings.values[settingsOf.github.limit],
        bitbucket: settings.values[settingsOf.bitbucket.limit],
        bitbucket_server: settings.values[settingsOf.bitbucket_server.limit],
      }),
    extend: (steps, seconds) =>
      store.extend(
        db.writer,
        steps.map(({ id }) => id),
        seconds,
      ),
    release: (step) => store.release(db.writer, step),
    run: (step, signal) => runStep(room, step, signal),
  })
  return {
    endpoints: [...githubEndpoints(room), ...bitbucketServerEndpoints(room), ...bitbucketEndpoints(room)],
    tasks: [
      { name: wakeTask, run: () => work.wake() },
      { name: tidying, run: () => removeLeftFolders(room.workplace, day) },
    ],
    schedules: [
      // What a node held that ended.
      { task: wakeTask, pattern: '* * * * *' },
      { task: tidying, pattern: '50 5 * * *' },
    ],
    async start() {
      await enqueue(db.writer, wakeTask, {}, { key: wakeTask })
      return work
    },
  }
}
