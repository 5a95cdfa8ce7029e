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
import { placeOfWiki } from '../wikis/index.ts'
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
          const { id, places: old } = payload as { id: number; places: OldPlace[] }
          const move = await store.load(db.writer, id)
          // Without the project nobody needs either place.
          if (move !== undefined && move.state !== 'replicated') return
          let state = 'finished'
          try {
            for (const place of old) await deleteRepository(places.of(place))
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
          for (const move of await store.stranded(db.reader)) {
            await giveUp(services, move, await store.wikiOf(db.writer, move.projectId))
          }
        },
      },
    ],
    schedules: [{ task: minding, pattern: '*/5 * * * *' }],
  }
}

/** What a move has left behind. */
interface OldPlace {
  readonly id: number | string
  readonly storage: string
}

/**
 * First the objects, while people push; then, with pushes kept out for a moment, what came meanwhile and the refs. The
 * wiki goes along: either both are at the new place in the end, or both at the old one.
 */
async function runMove(services: MoveServices, move: store.Move): Promise<void> {
  const { db, log, places } = services
  const source = places.of({ id: move.projectId, storage: move.source })
  const target = places.of({ id: move.projectId, storage: move.destination })
  await store.setState(db.writer, move.id, 'started')
  let wiki = await store.wikiOf(db.writer, move.projectId)
  try {
    await deleteRepository(target)
    const exists = await repositoryExists(source)
    if (exists) await copyObjects(source, target)
    if (wiki !== null) await copyWiki(services, move, wiki)
    await using held = await Hold.begin(db, move)
    if (exists) {
      await copyObjects(source, target)
      await copyRefs(source, target, held.facts.refsVersion)
    }
    wiki = held.facts.wiki
    if (wiki !== null) await copyWiki(services, move, wiki, { refs: true })
    const settled = await store.settle(db, move, async (branch) => {
      if (exists) await setDefaultBranch(target, branchRef(branch)!)
    })
    if (!settled) throw new Error('pushes were let in before the move was done')
  } catch (error) {
    log.warn({ err: error, move: move.id, project: move.projectId }, 'a repository could not be moved')
    // What went wrong may have gone wrong after the move was settled.
    if (await giveUp(services, move, wiki)) return
  }
  const { id, projectId } = move
  const old: OldPlace[] = [{ id: projectId, storage: move.source }]
  if (wiki !== null && wiki.storage !== move.destination) {
    old.push({ id: placeOfWiki(wiki.id), storage: wiki.storage })
  }
  await enqueue(
    db.writer,
    cleaning,
    { id, places: old },
    { runAt: new Date(Date.now() + grace), key: `${cleaning}:${id}` },
  )
}

/** The objects of a wiki that lies elsewhere, or, with pushes kept out, all that it still lacks. */
async function copyWiki(
  { places }: MoveServices,
  { destination }: store.Move,
  { id, storage, refsVersion, defaultBranch }: store.MovedWiki,
  { refs = false } = {},
): Promise<void> {
  if (storage === destination) return
  const source = places.of({ id: placeOfWiki(id), storage })
  const target = places.of({ id: placeOfWiki(id), storage: destination })
  if (!refs) await deleteRepository(target)
  if (!(await repositoryExists(source))) return
  await copyObjects(source, target)
  if (!refs) return
  await copyRefs(source, target, refsVersion)
  await setDefaultBranch(target, branchRef(defaultBranch)!)
}

/** False where the move was settled: then the copies are in use. A project that is gone needs none. */
async function giveUp(
  { db, log, places }: MoveServices,
  { id, projectId, destination }: store.Move,
  wiki: store.MovedWiki | null,
): Promise<boolean> {
  if (!(await store.fail(db.writer, id)) && (await store.load(db.writer, id)) !== undefined) return false
  const copies = [projectId, ...(wiki === null || wiki.storage === destination ? [] : [placeOfWiki(wiki.id)])]
  for (const copy of copies) {
    // It may be the storage itself that is out of order.
    await deleteRepository(places.of({ id: copy, storage: destination })).catch((error: unknown) => {
      log.warn({ err: error, move: id }, 'the copy of a move that failed could not be removed')
    })
  }
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
