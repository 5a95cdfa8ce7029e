import { EventEmitter } from 'node:events'
import {
  Logger as WorkerLogger,
  run,
  runMigrations,
  type JobHelpers,
  type Runner,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import pg from 'pg'
import { sql, unheld, type Database, type Notifications } from '../kernel/db/index.ts'
import { chainOfPayload, inChain } from '../kernel/lib/chain.ts'
import type { Logger } from '../kernel/log/index.ts'
import type { Schedule, Task } from './tasks.ts'

/** Tasks that one node is at, and that it takes from the queue at once. */
const atOnce = 4
const taken = 8

/** Milliseconds in which tasks that were done are gathered: they leave the queue together. */
const ending = 20

/** Milliseconds after which tasks that were taken, but not begun, go back to where other nodes find them. */
const longestTaken = 5_000

/** Milliseconds between two looks for tasks of those who are gone, and before a worker that broke is begun anew. */
const lookingForGone = 15_000
const beginningAnew = 5_000

/** Tasks tell their failures themselves, with what the log needs. */
const quiet = new WorkerLogger(() => () => undefined)

function openPool(connection: pg.ClientConfig, max: number, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({ ...connection, max, application_name: 'guildhall-tasks' })
  pool.on('error', onError)
  pool.on('connect', (client) => client.on('error', onError))
  return pool
}

/** Makes the tables of the queue. */
export async function migrateTasks(connection: pg.ClientConfig): Promise<void> {
  const pool = openPool(connection, 2, () => undefined)
  try {
    await runMigrations({ pgPool: pool, logger: quiet })
  } finally {
    await pool.end()
  }
}

interface Services {
  readonly db: Database
  readonly notifications: Notifications
  readonly log: Logger
}

/**
 * The worker: runs tasks of this list as they come. A task is locked by who has taken it, and the queue would wait for
 * hours before it lets go of one whose node was killed: each shows that it lives, and frees what is locked by those who
 * do not.
 */
export class TaskWorker implements AsyncDisposable {
  readonly #services: Services
  readonly #pool: pg.Pool
  readonly #taskList: TaskList
  readonly #tasks: Map<string, Task>
  readonly #crontab: string
  #looking: NodeJS.Timeout | undefined
  #again: NodeJS.Timeout | undefined
  #runner: Runner | undefined
  #ended = false

  private constructor(services: Services, tasks: readonly Task[], schedules: readonly Schedule[]) {
    const { db, log } = services
    this.#services = services
    this.#pool = openPool(db.connection, atOnce, (error) =>
      log.warn({ err: error }, 'a database connection of the tasks broke'),
    )
    const byName = new Map(tasks.map((task) => [task.name, task]))
    this.#tasks = byName
    this.#taskList = Object.fromEntries(
      tasks.map(({ name, attempts = Infinity }) => [
        name,
        async (payload: unknown, { job }: JobHelpers) => {
          try {
            await inChain(chainOfPayload(payload), () => byName.get(name)!.run(payload))
          } catch (error) {
            log.error({ err: error, task: name }, 'a task failed')
            if (job.attempts < attempts) throw error
          }
        },
      ]),
    )
    this.#crontab = schedules.map(({ pattern, task }) => `${pattern} ${task}`).join('\n')
  }

  static async start(
    services: Services,
    tasks: readonly Task[],
    schedules: readonly Schedule[],
  ): Promise<TaskWorker> {
    const worker = new TaskWorker(services, tasks, schedules)
    await worker.#begin()
    await worker.#freeGone()
    worker.#looking = setInterval(() => void worker.#freeGone(), lookingForGone).unref()
    return worker
  }

  async #begin(): Promise<void> {
    const { notifications, log } = this.#services
    const events: WorkerEvents = new EventEmitter()
    let name = ''
    let held: Promise<void> | undefined
    events.once('pool:create', ({ workerPool }) => {
      name = workerPool.id
      held = notifications.hold(name)
    })
    const runner = await run({
      pgPool: this.#pool,
      concurrency: atOnce,
      noHandleSignals: true,
      pollInterval: 5000,
      taskList: this.#taskList,
      crontab: this.#crontab,
      logger: quiet,
      events,
      preset: { worker: { localQueue: { size: taken, ttl: longestTaken }, completeJobBatchDelay: ending } },
    })
    this.#runner = runner
    await held
    // Whoever ends it meanwhile did not see this one.
    if (this.#ended) await runner.stop()
    // It ends by itself where the database was away for minutes.
    void runner.promise
      .catch((error: unknown) => log.error({ err: error }, 'the worker of the tasks broke'))
      .then(() => notifications.release(name))
      .then(() => this.#beginLater())
  }

  #beginLater(): void {
    if (this.#ended) return
    this.#again = setTimeout(() => {
      this.#begin().catch((error: unknown) => {
        this.#services.log.warn({ err: error }, 'the worker of the tasks cannot begin')
        this.#beginLater()
      })
    }, beginningAnew)
  }

  async #freeGone(): Promise<void> {
    try {
      await sql`
        select graphile_worker.force_unlock_workers(array_agg(gone.locked_by))
        from (
          select w.locked_by
          from (
            select j.locked_by from graphile_worker._private_jobs j where j.locked_by is not null
            union select q.locked_by from graphile_worker._private_job_queues q where q.locked_by is not null
            offset 0) w
          where ${unheld('w.locked_by')} offset 0) gone
        having count(*) > 0`.execute(this.#services.db.writer)
    } catch (error) {
      this.#services.log.warn({ err: error }, 'could not look for tasks of nodes that are gone')
    }
  }

  /** Lets what runs end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearInterval(this.#looking)
    clearTimeout(this.#again)
    await this.#runner?.stop()
    await this.#pool.end()
    // The library keeps the list of every worker that there ever was, and a task knows the whole service.
    this.#tasks.clear()
  }
}
