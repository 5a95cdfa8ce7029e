import { settingNames } from '../../settings/index.ts'
import { LeasedWork, type Schedule, type Task } from '../../tasks/index.ts'
import { Bulks } from './bulk.ts'
import { Cluster } from './cluster.ts'
import { runRepository } from './code.ts'
import { Keeper } from './keeper.ts'
import { IndexSearch } from './query.ts'
import { runLane } from './records.ts'
import * as repositories from './repository-store.ts'
import type { IndexRoom, IndexServices } from './services.ts'
import * as store from './store.ts'

export { rename as nameSearchIndex } from './store.ts'
export { IndexSearch, mostHits, type Hit, type IndexedScope, type Sought } from './query.ts'

const indexSettings = settingNames.filter((name) => name.startsWith('elasticsearch_'))
const watching = 'search-index:watch'
/** Seconds of a rest after failures, which is twice as long each time. */
const longestRest = 60

/** The index that a search cluster keeps for us, and how it is kept up with what changes. */
export function searchIndex(services: IndexServices): {
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
  search: IndexSearch
} {
  const { db, settings, log, notifications } = services
  const cluster = new Cluster(settings)
  const room: IndexRoom = {
    ...services,
    cluster,
    keeper: new Keeper({ ...services, cluster }),
    bulks: new Bulks({ ...services, cluster }),
  }
  const works = (): boolean => {
    const { elasticsearch_indexing: on, elasticsearch_pause_indexing: paused } = settings.values
    return on && !paused
  }
  const restAfter = (attempts: number): number => Math.min(longestRest, 0.25 * 2 ** Math.min(attempts, 10))

  const lanes = new LeasedWork<store.Lane>({
    log,
    atOnce: 4,
    claim: async (seconds) =>
      works()
        ? store.claimLane(db, seconds, settings.values.elasticsearch_worker_number_of_shards)
        : undefined,
    extend: (held, seconds) => store.extendLanes(db.writer, held, seconds),
    release: (lane) => store.releaseLane(db.writer, lane, { rest: restAfter(lane.attempts), failed: true }),
    async run(lane, signal) {
      const rest = await runLane(room, lane, signal)
      await store.releaseLane(db.writer, lane, { rest, failed: false })
    },
  })
  const code = new LeasedWork<repositories.Job>({
    log,
    atOnce: 8,
    claim: async (seconds) =>
      works()
        ? repositories.claim(db, seconds, settings.values.elasticsearch_max_code_indexing_concurrency)
        : undefined,
    extend: (held, seconds) => repositories.extend(db.writer, held, seconds),
    release: (job) => repositories.postpone(db.writer, job, restAfter(job.attempts)),
    run: (job, signal) => runRepository(room, job, signal),
  })
  const wake = (): void => {
    void lanes.wake()
    void code.wake()
  }
  let before = settings.values
  /** A setting that is another may be what was waited for. */
  const look = async (): Promise<void> => {
    if (!settings.values.elasticsearch_indexing) await store.forget(db)
    else {
      await store.letLook(db.writer)
      await store.hurry(db.writer)
    }
    wake()
  }

  notifications.subscribe(store.channel, wake)
  return {
    tasks: [
      {
        name: watching,
        async run() {
          if (settings.values.elasticsearch_indexing) await store.letLook(db.writer)
          else await store.forget(db)
          wake()
        },
      },
    ],
    // What a node held that ended, and what could not be done while the cluster was not there.
    schedules: [{ task: watching, pattern: '* * * * *' }],
    async start() {
      settings.onLoad(() => {
        const now = settings.values
        const changed = indexSettings.some(
          (name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]),
        )
        before = now
        if (changed)
          look().catch((error: unknown) => log.warn({ err: error }, 'could not look at the search index'))
      })
      wake()
      return {
        async [Symbol.asyncDispose]() {
          await Promise.all([lanes[Symbol.asyncDispose](), code[Symbol.asyncDispose]()])
        },
      }
    },
    search: new IndexSearch(room),
  }
}
