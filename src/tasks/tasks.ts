import type { RawBuilder } from 'kysely'
import { sql, type Tx, type Writer } from '../kernel/db/index.ts'
import { withChain } from '../kernel/lib/chain.ts'

/** Work that can wait: idempotent, since it may run again after a crash. */
export interface Task<Payload = unknown> {
  readonly name: string
  /** After so many that failed it is given up. */
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

/**
 * Tasks that `source` selects as `name, payload`, to be selected from as `task`, their ids. Many in one call take little
 * longer than one.
 */
export function enqueued(source: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select added.id as task
    from (
      select array(
        select (n.name, n.payload, null, null, null, null, null, null)::graphile_worker.job_spec from (${source}) n) as jobs
      offset 0) specs
    cross join lateral graphile_worker.add_jobs(specs.jobs) added
    where cardinality(specs.jobs) > 0)`
}
