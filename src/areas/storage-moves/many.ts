import { ApiError } from '../../kernel/errors/index.ts'
import type { Writer } from '../../kernel/db/index.ts'
import { enqueue, type Task } from '../../tasks/index.ts'
import { otherStorage, type DestinationServices } from './destination.ts'
import { enqueueMove, type MoveServices } from './move.ts'
import * as store from './store.ts'

const name = 'storage-moves:all'
const projectsAtOnce = 500

interface Payload {
  readonly source: string
  readonly target: string | null
}

export async function enqueueMany(db: Writer, source: string, target: string | undefined): Promise<void> {
  const payload: Payload = { source, target: target ?? null }
  await enqueue(db, name, payload, { key: `${name}:${source}` })
}

/** Schedules a move for every project of a storage, page by page. */
export function moveAllTask(services: MoveServices & DestinationServices): Task {
  const { db } = services
  return {
    name,
    async run(payload) {
      const { source, target } = payload as Payload
      for (let after = 0; ;) {
        const ids = await store.onStorage(db.reader, source, { after, limit: projectsAtOnce })
        for (const id of ids) {
          const destination = target ?? otherStorage(services, source)
          if (destination === source) return
          await db
            .transaction(async (tx) => enqueueMove(tx, await store.create(tx, id, { source, destination })))
            .catch(unlessMoving)
        }
        if (ids.length < projectsAtOnce) return
        after = ids.at(-1)!
      }
    },
  }
}

/** Somebody else scheduled it meanwhile. */
function unlessMoving(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}
