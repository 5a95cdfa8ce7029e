import { Logger as WorkerLogger, run, runMigrations, type Runner, type TaskList } from 'graphile-worker'
import pg from 'pg'
import { sql, type Tx, type Writer } from '../kernel/db/index.ts'
import { chainOfPayload, inChain, withChain } from '../kernel/lib/chain.ts'
import type { Logger } from '../kernel/log/index.ts'

/** Work that can wait: idempotent, since it may run again after a crash. */
export interface Task<Payload = unknown> {
  readonly name: string
  /** Attempts before it is left for a person to look at. */
  readonly attempts?: number
  run(payload: Payload): Promise<void>
}

/** Work at fixed times, in UTC: `pattern` is a crontab line's five fields. */
export interface Schedule {
  readonly task: string
  readonly pattern: string
}

/**
 * Puts a task into the queue, in the transaction that causes it: when that commits the task is there, else it never
 * was. `key`: a task with the same key that still waits is replaced.
 */
export async function enqueue(
  tx: Tx | Writer,
  name: string,
  payload: object,
  options: { key?: string; runAt?: Date; queue?: string } = {},
): Promise<void> {
  await sql`
    select graphile_worker.add_job(
      identifier => ${name}, payload => ${JSON.stringify(withChain(payload))}::json, queue_name => ${options.queue ?? null},
      run_at => ${options.runAt ?? null}, job_key => ${options.key ?? null})`.execute(tx)
}

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

/** The worker: runs tasks of this list as they come. */
export class TaskWorker implements AsyncDisposable {
  readonly #runner: Runner
  readonly #pool: pg.Pool
  readonly #tasks: Map<string, Task>

  private constructor(runner: Runner, pool: pg.Pool, tasks: Map<string, Task>) {
    this.#runner = runner
    this.#pool = pool
    this.#tasks = tasks
  }

  static async start(
    connection: pg.ClientConfig,
    tasks: readonly Task[],
    schedules: readonly Schedule[],
    log: Logger,
  ): Promise<TaskWorker> {
    const pool = openPool(connection, 4, (error) =>
      log.warn({ err: error }, 'a database connection of the tasks broke'),
    )
    const byName = new Map(tasks.map((task) => [task.name, task]))
    const taskList: TaskList = Object.fromEntries(
      tasks.map(({ name }) => [
        name,
        async (payload: unknown) => {
          try {
            await inChain(chainOfPayload(payload), () => byName.get(name)!.run(payload))
          } catch (error) {
            log.error({ err: error, task: name }, 'a task failed')
            throw error
          }
        },
      ]),
    )
    const runner = await run({
      pgPool: pool,
      concurrency: 4,
      noHandleSignals: true,
      pollInterval: 5000,
      taskList,
      crontab: schedules.map(({ pattern, task }) => `${pattern} ${task}`).join('\n'),
      logger: quiet,
    })
    return new TaskWorker(runner, pool, byName)
  }

  /** Lets what runs end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runner.stop()
    await this.#pool.end()
    // The library keeps the list of every worker that there ever was, and a task knows the whole service.
    this.#tasks.clear()
  }
}
