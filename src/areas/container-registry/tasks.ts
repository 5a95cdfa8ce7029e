import { sql } from '../../kernel/db/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { runPolicies, type CleanupServices } from './cleanup.ts'
import { collect, type CollectServices } from './collect.ts'
import { removeTags } from './removal.ts'
import type { Selection } from './selection.ts'

export const taskNames = {
  deleteRepository: 'registry:delete-repository',
  removeTags: 'registry:remove-tags',
  cleanUp: 'registry:clean-up',
  collect: 'registry:collect',
} as const

export const registrySchedules: readonly Schedule[] = [
  { task: taskNames.cleanUp, pattern: '*/10 * * * *' },
  { task: taskNames.collect, pattern: '17 * * * *' },
]

/** Rows that are deleted at once. */
const batch = 5000

export function registryTasks(
  services: CleanupServices & CollectServices & { readonly grace: number },
): Task[] {
  const { db, grace, log } = services
  return [
    {
      name: taskNames.deleteRepository,
      async run({ repository }: { repository: number }) {
        for (const table of ['container_tags', 'container_manifests'] as const) {
          await emptied(async () => {
            const { numAffectedRows } = await sql`
              delete from ${sql.table(table)} d where d.ctid = any (array(
                select x.ctid from ${sql.table(table)} x
                join container_repositories c on c.id = x.repository_id and c.status = 'delete_scheduled'
                where x.repository_id = ${repository} limit ${batch}))`.execute(db.writer)
            return Number(numAffectedRows ?? 0)
          })
        }
        await sql`
          delete from container_repositories c
          where c.id = ${repository} and c.status = 'delete_scheduled'`.execute(db.writer)
      },
    },
    {
      name: taskNames.removeTags,
      async run({ repository, selection }: { repository: number; selection: Selection }) {
        await removeTags(db, repository, selection)
      },
    },
    { name: taskNames.cleanUp, run: () => runPolicies(services) },
    {
      name: taskNames.collect,
      async run() {
        const collected = await collect(services, grace)
        if (collected.blobs > 0) log.info(collected, 'garbage of the registry was removed')
      },
    },
  ] as Task[]
}

async function emptied(remove: () => Promise<number>): Promise<void> {
  while ((await remove()) === batch);
}
