import path from 'node:path'
import { Blobs, removeUnused } from '../../blobs/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { enqueue, LeasedWork, type Schedule, type Task } from '../../tasks/index.ts'
import { removeLeftFolders } from '../project-archives/index.ts'
import { relationExportEndpoints, wakeTask } from './routes.ts'
import type { RelationExportRoom, RelationExportServices } from './services.ts'
import * as store from './store.ts'
import { writeBatch } from './write.ts'

export {
  fileName,
  isFiles,
  isTree,
  members,
  projectFormat,
  relations,
  self,
  trees,
  type Kind,
  type TreeName,
} from './relations.ts'
export type { MemberRecord } from './store.ts'

/** The database itself puts this one into the queue, when files go (migration 0280). */
const removal = 'relation-exports:remove-content'
const forgetting = 'relation-exports:forget'
/** Hours that a file can be downloaded for. */
const kept = 72
const day = 86_400_000

/** Relations of projects and groups as files of their own, for other instances. */
export function relationExports(services: RelationExportServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, settings, log } = services
  const folder = path.join(services.dataDirectory, 'relation-exports')
  const room: RelationExportRoom = {
    ...services,
    blobs: new Blobs(folder),
    workplace: path.join(folder, 'work'),
  }
  const work = new LeasedWork<store.Batch>({
    log,
    atOnce: 8,
    claim: (seconds) => store.claim(db, seconds, settings.values.concurrent_relation_batch_export_limit),
    extend: (batches, seconds) =>
      store.extend(
        db.writer,
        batches.map(({ id }) => id),
        seconds,
      ),
    release: (batch) => store.release(db.writer, batch),
    run: (batch, signal) => writeBatch(room, batch, signal),
  })
  return {
    endpoints: relationExportEndpoints(room),
    tasks: [
      { name: wakeTask, run: () => work.wake() },
      {
        name: removal,
        run: (payload) =>
          removeUnused(db, room.blobs, 'relation_export_batches', (payload as { digests: string[] }).digests),
      },
      {
        name: forgetting,
        async run() {
          await store.forget(db.writer, kept)
          await room.blobs.removeLeftovers(day)
          await removeLeftFolders(room.workplace, day)
        },
      },
    ],
    schedules: [
      { task: forgetting, pattern: '50 * * * *' },
      // What a node held that ended.
      { task: wakeTask, pattern: '* * * * *' },
    ],
    async start() {
      await enqueue(db.writer, wakeTask, {}, { key: wakeTask })
      return work
    },
  }
}
