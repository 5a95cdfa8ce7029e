import type { Schedule, Task } from '../../tasks/index.ts'
import { deploymentRefTasks, removeRefs } from './deployment-refs.ts'
import { settling } from './deployments.ts'
import * as store from './environments-store.ts'
import type { EnvironmentServices } from './index.ts'
import type { Stopping } from './stopping.ts'

export const stopDue = 'environments:stop-due'
const remove = 'environments:remove-marked'

export const environmentSchedules: readonly Schedule[] = [
  { task: stopDue, pattern: '* * * * *' },
  { task: remove, pattern: '23 * * * *' },
]

/** Environments whose time has come, and what follows a deployment. */
export function environmentTasks(services: EnvironmentServices, stopping: Stopping): Task[] {
  const { db } = services
  return [
    settling(services),
    {
      name: stopDue,
      async run() {
        for (
          let due = await store.dueToStop(db.reader);
          due.length > 0;
          due = await store.dueToStop(db.reader)
        ) {
          for (const id of due) await stopping.stopDue(id)
        }
      },
    },
    {
      name: remove,
      run: () =>
        db.transaction(async (tx) => {
          for (const gone of await store.removeMarked(tx)) await removeRefs(tx, gone)
        }),
    },
    ...deploymentRefTasks(services),
  ]
}
