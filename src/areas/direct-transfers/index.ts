import path from 'node:path'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import { enqueue, LeasedWork, type Schedule, type Task } from '../../tasks/index.ts'
import { removeLeftFolders } from '../project-archives/index.ts'
import { wakeTask } from './begin.ts'
import { transferEndpoints } from './routes.ts'
import { runStep } from './run.ts'
import type { TransferRoom, TransferServices } from './services.ts'
import * as store from './step-store.ts'

const tidying = 'direct-transfers:remove-leftovers'
const day = 86_400_000

/** Groups and projects brought here from other instances, over their public API. */
export function directTransfers(services: TransferServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  start: () => Promise<AsyncDisposable>
} {
  const { db, settings, log } = services
  const room: TransferRoom = {
    ...services,
    workplace: path.join(services.dataDirectory, 'direct-transfers'),
  }
  const work = new LeasedWork<store.Step>({
    log,
    atOnce: 8,
    claim: (seconds) => store.claim(db, seconds, settings.values.bulk_import_concurrent_pipeline_batch_limit),
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
    endpoints: transferEndpoints(room),
    tasks: [
      { name: wakeTask, run: () => work.wake() },
      { name: tidying, run: () => removeLeftFolders(room.workplace, day) },
    ],
    schedules: [
      // What a node held that ended.
      { task: wakeTask, pattern: '* * * * *' },
      { task: tidying, pattern: '55 5 * * *' },
    ],
    async start() {
      await enqueue(db.writer, wakeTask, {}, { key: wakeTask })
      return work
    },
  }
}
