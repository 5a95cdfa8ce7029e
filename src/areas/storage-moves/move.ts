import { setTimeout as sleep } from 'node:timers/promises'
import {
  branchRef,
  copyObjects,
  copyRefs,
  deleteRepository,
  repositoryExists,
  setDefaultBranch,
} from '../../git/index.ts'
import type { Database, Writer } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { enqueue, type Schedule, type Task } from '../../tasks/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import * as store from './store.ts'

export interface MoveServices {
  readonly db: Database
  readonly log: Logger
  readonly places: RepositoryPlaces
}

const moving = 'storage-moves:move'
const cleaning = 'storage-moves:clean'
const minding = 'storage-moves:mind'

/** Seconds for which pushes are kept out, and after which, well before, that is said again. */
const lease = 60
const renewal = 20
/** Milliseconds to wait for those who were moving refs when pushes were shut out; each holds its lock for far less. */
const patience = 30_000
/** Milliseconds until the old place is removed: somebody may still be reading there. */
const grace = 60_000

export async function enqueueMove(db: Writer, id: number): Promise<void> {
  await enqueue(db, moving, { id }, { key: `${moving}:${id}`, queue: moving })
}

export function moveTasks(services: MoveServices): { tasks: Task[]; schedules: Schedule[] } {
  const { db, places, log } = services
  return {
    tasks: [
      {
        name: moving,
        async run(payload) {
          const move = await store.load(db.writer, (payload as { id: number }).id)
          if (move?.state === 'scheduled') await runMove(services, move)
        },
      },
      {
        name: cleaning,
        async run(payload) {
          const { id, ...place } = payload as { id: number; projectId: number; source: string }
          const move = await store.load(db.writer, id)
          // Without the project nobody needs either place.
          if (move !== undefined && move.state !== 'replicated') return
          let state = 'finished'
          try {
            await deleteRepository(places.of({ id: place.projectId, storage: place.source }))
          } catch (error) {
            log.warn({ err: error, move: id }, 'the old place of a repository could not be removed')
            state = 'cleanup failed'
          }
          await store.setState(db.writer, id, state)
        },
      },
      {
        name: minding,
        async run() {
          for (const move of await store.stranded(db.reader)) await giveUp(services, move)
        },
      },
    ],
    schedules: [{ task: minding, pattern: '*/5 * * * *' }],
  }
}

/** First the objects, while people push; then, with pushes kept out for a moment, what came meanwhile and the refs. */
async function runMove(services: MoveServices, move: store.Move): Promise<void> {
  const { db, log, places } = services
  const source = places.of({ id: move.projectId, storage: move.source })
  const target = places.of({ id: move.projectId, storage: move.destination })
  await store.setState(db.writer, move.id, 'started')
  try {
    await deleteRepository(target)
    const exists = await repositoryExists(source)
    if (exists) await copyObjects(source, target)
    await using held = await Hold.begin(db, move)
    if (exists) {
      await copyObjects(source, target)
      await copyRefs(source, target, held.facts.refsVersion)
    }
    const settled = await store.settle(db, move, async (branch) => {
      if (exists) await setDefaultBranch(target, branchRef(branch)!)
    })
    if (!settled) throw new Error('pushes were let in before the move was done')
  } catch (error) {
    log.warn({ err: error, move: move.id, project: move.projectId }, 'a repository could not be moved')
    // What went wrong may have gone wrong after the move was settled.
    if (await giveUp(services, move)) return
  }
  const { id, projectId, source: old } = move
  await enqueue(
    db.writer,
    cleaning,
    { id, projectId, source: old },
    { runAt: new Date(Date.now() + grace), key: `${cleaning}:${id}` },
  )
}

async function giveUp({ db, places }: MoveServices, move: store.Move): Promise<boolean> {
  if (!(await store.fail(db.writer, move.id))) return false
  await deleteRepository(places.of({ id: move.projectId, storage: move.destination }))
  return true
}

/** Keeps pushes out as long as it lives. */
class Hold implements AsyncDisposable {
  readonly facts: store.Held
  readonly #db: Database
  readonly #move: store.Move
  readonly #timer: NodeJS.Timeout

  private constructor(db: Database, move: store.Move, facts: store.Held) {
    this.#db = db
    this.#move = move
    this.facts = facts
    this.#timer = setInterval(() => {
      // When it cannot be said again the lease ends, and the move finds that out.
      store.hold(db.writer, move, lease).catch(() => undefined)
    }, renewal * 1000)
  }

  static async begin(db: Database, move: store.Move): Promise<Hold> {
    const first = await store.hold(db.writer, move, lease)
    if (first === undefined) throw new Error('the project is not where it was')
    const until = Date.now() + patience
    while (await store.isBusy(db.writer, move.projectId)) {
      if (Date.now() > until) {
        await store.release(db.writer, move.projectId)
        throw new Error('refs were being moved all the time')
      }
      await sleep(50)
    }
    // As those left it who moved refs until now.
    return new Hold(db, move, (await store.hold(db.writer, move, lease)) ?? first)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await store.release(this.#db.writer, this.#move.projectId)
  }
}
