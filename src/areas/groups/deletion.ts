import type { Actor, GroupSubject } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { refused } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { lockTree } from '../namespaces/index.ts'
import { removeRepositoriesBelow, type Permanently } from '../projects/index.ts'
import * as store from './store.ts'

export interface DeletionServices {
  readonly db: Database
  readonly plan: Plan
  readonly settings: Settings
}

const endMarked = 'groups:end-marked'
const batch = 100

/**
 * With a paid plan a group is marked first, and goes with all below it when its days are over; else it goes at once. One
 * at the top has all of them: too much would be gone by mistake.
 */
export async function deleteGroup(
  { db, plan }: DeletionServices,
  actor: Actor,
  group: GroupSubject,
  { permanently_remove: permanently, full_path: fullPath }: Permanently,
): Promise<void> {
  const delayed = offers(plan, 'delayed_deletion')
  if (permanently === true && delayed) {
    if (group.line.length === 1) {
      throw refused(400, '`permanently_remove` option is only available for subgroups.')
    }
    const marked = await store.groupMark.isSet(db.reader, group.id)
    if (!marked) throw refused(400, 'Group must be marked for deletion first.')
    if (fullPath !== group.fullPath) {
      throw refused(400, '`full_path` is incorrect. You must enter the complete path for the subgroup.')
    }
  }
  await db.transaction(async (tx) => {
    if (delayed && permanently !== true) await store.groupMark.set(tx, group.id, actor.user?.id ?? null)
    else await end(tx, group.id, group.line[0]!)
  })
}

/** The group and all that lies below it are gone at once, their paths free; repositories are removed by tasks. */
async function end(tx: Tx, id: number, root: number): Promise<void> {
  await lockTree(tx, root, 'update')
  await removeRepositoriesBelow(tx, id)
  await store.remove(tx, id)
}

export async function restoreGroup({ db }: Pick<DeletionServices, 'db'>, id: number): Promise<void> {
  const there = await db.transaction((tx) => store.groupMark.lift(tx, id))
  if (!there) throw refused(400, 'Group has not been marked for deletion')
}

export function deletionTasks({ db, settings }: DeletionServices): { tasks: Task[]; schedules: Schedule[] } {
  return {
    tasks: [
      {
        name: endMarked,
        async run() {
          const days = settings.values.deletion_adjourned_period
          for (;;) {
            const due = await store.dueGroups(db.reader, days, batch)
            for (const { id, root } of due) {
              await db.transaction(async (tx) => {
                await lockTree(tx, root, 'update')
                if (await store.lockDue(tx, id, days)) await end(tx, id, root)
              })
            }
            if (due.length < batch) return
          }
        },
      },
    ],
    schedules: [{ task: endMarked, pattern: '38 * * * *' }],
  }
}
