import { randomUUID } from 'node:crypto'
import { enqueue } from '../../tasks/index.ts'
import type { Settings } from '../../settings/index.ts'
import { pushMirror, type PushServices } from './push.ts'
import * as store from './store.ts'

export type RunnerServices = PushServices & { readonly settings: Settings }

export const runTask = 'mirrors:push'

/** Mirrors that one node brings up to date at one time: each may have to wait for a slow host. */
const atOnce = 4
/** Seconds for which a mirror is one node's, and after which, well before, that is said again. */
const lease = 60
const renewal = 20
/** Milliseconds that bringing one mirror up to date may take. */
const patience = 30 * 60_000
const longestError = 2000
/** Minutes until it is tried again, after the first, the second and the third failure that may pass by itself. */
const retries = [1, 5, 15]

/** A task that looks for mirrors that are due, in time. */
export async function enqueueRun(
  db: Parameters<typeof enqueue>[0],
  due: store.Due | undefined,
): Promise<void> {
  if (due === undefined) return
  await enqueue(db, runTask, {}, { runAt: new Date(due.due_at), key: `${runTask}:${due.id}` })
}

/** Brings mirrors up to date beside all else: the tasks only say that there is something to do. */
export class PushRunner implements AsyncDisposable {
  readonly #services: RunnerServices
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #taken = 0

  constructor(services: RunnerServices) {
    this.#services = services
  }

  /** Takes what is due, as much as there is room for. */
  async look(): Promise<void> {
    const { db, settings } = this.#services
    while (this.#taken < atOnce && !this.#stopping.signal.aborted) {
      if (settings.values.silent_mode_enabled) return
      const runner = randomUUID()
      this.#taken += 1
      const mirror = await store.claim(db.writer, runner, lease).catch((error: unknown) => {
        this.#taken -= 1
        throw error
      })
      if (mirror === undefined) {
        this.#taken -= 1
        return
      }
      const work = this.#run(mirror, runner)
        .catch((error: unknown) => {
          this.#services.log.warn({ err: error, mirror: mirror.id }, 'a mirror could not be looked after')
        })
        .finally(() => {
          this.#taken -= 1
          this.#running.delete(work)
        })
      this.#running.add(work)
      void work.then(() => this.look()).catch(() => undefined)
    }
  }

  async #run(mirror: store.ClaimedMirror, runner: string): Promise<void> {
    const { db } = this.#services
    const renewing = setInterval(() => {
      // When it cannot be said again another node takes over.
      store.renew(db.writer, runner, lease).catch(() => undefined)
    }, renewal * 1000)
    const tooLong = AbortSignal.timeout(patience)
    const signal = AbortSignal.any([this.#stopping.signal, tooLong])
    try {
      // Of a repository without anything in it nothing is taken for gone.
      const outcome = mirror.empty
        ? ({ ok: true } as const)
        : await pushMirror(this.#services, mirror, signal).catch((error: unknown) => {
            if (!tooLong.aborted) throw error
            return { ok: false, error: 'It took too long', passing: true } as const
          })
      const due = outcome.ok
        ? await store.succeed(db.writer, runner)
        : await store.fail(
            db.writer,
            runner,
            outcome.error.slice(0, longestError),
            outcome.passing ? retries : [],
          )
      await enqueueRun(db.writer, due)
    } catch (error) {
      await store.release(db.writer, runner)
      if (!this.#stopping.signal.aborted) throw error
    } finally {
      clearInterval(renewing)
    }
  }

  /** What is under way is stopped, and due again at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled(this.#running)
  }
}
