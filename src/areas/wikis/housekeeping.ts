import { deleteRepository, recoverRepository, repositoryExists } from '../../git/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import type { WikiDoor } from './door.ts'
import { measure, measureTask, optimiseWikis, type StoredWiki } from './upkeep.ts'
import type { WikiServices } from './services.ts'
import * as store from './store.ts'

const recover = 'wikis:recover'
const sweep = 'wikis:sweep'
const optimise = 'wikis:optimise'
/** The database itself puts this one into the queue, when the row of a wiki goes (migration 0025). */
const remove = 'wikis:remove-repository'
/** Days after which nobody asks any more how refs came to their values. */
const journalDays = 30
const wikisAtOnce = 500

/** What keeps the repositories of wikis and their journal in order. */
export function housekeeping(
  services: WikiServices,
  door: WikiDoor,
): { tasks: Task[]; schedules: Schedule[] } {
  const { db, log } = services

  /** Looks at every repository, page by page. */
  async function sweepRepositories(): Promise<void> {
    for (let last = 0; ;) {
      const wikis = await db.reader
        .selectFrom('wikis as w')
        .select(['w.id', 'w.storage'])
        .where('w.id', '>', last)
        .orderBy('w.id')
        .limit(wikisAtOnce)
        .execute()
      for (const wiki of wikis) {
        const repository = door.of(wiki)
        if (!(await repositoryExists(repository))) continue
        const removed = await recoverRepository(repository)
        if (removed.length > 0) log.info({ wiki: wiki.id, removed }, 'removed what a broken push had left')
        await measure(services, door, wiki)
      }
      if (wikis.length < wikisAtOnce) return
      last = wikis.at(-1)!.id
    }
  }

  return {
    tasks: [
      { name: recover, run: () => door.recover() },
      { name: optimise, run: () => optimiseWikis(services, door) },
      { name: measureTask, run: (payload) => measure(services, door, payload as StoredWiki) },
      {
        name: sweep,
        async run() {
          await store.forgetOldUpdates(db.writer, journalDays)
          await sweepRepositories()
        },
      },
      {
        name: remove,
        async run(payload) {
          const place = payload as StoredWiki
          if (!(await store.exists(db.reader, place.id))) await deleteRepository(door.of(place))
        },
      },
    ],
    schedules: [
      { task: recover, pattern: '*/5 * * * *' },
      { task: optimise, pattern: '*/10 * * * *' },
      { task: sweep, pattern: '47 3 * * *' },
    ],
  }
}
