import { sql, type Tx } from '../../kernel/db/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { Noteable } from './noteable.ts'

/** Where the sums of a kind of noteable are kept. */
const sums = {
  Issue: { table: sql`issues`, spent: sql`total_time_spent` },
  MergeRequest: { table: sql`merge_requests`, spent: sql`time_spent` },
} as const

type Timed = Noteable & { readonly type: keyof typeof sums }

export interface Spent {
  /** Seconds; below 0 to take some back. */
  readonly seconds: number
  readonly summary?: string | null
  readonly at?: Date | undefined
}

/** Logs time and adds it to the sum, which never falls below zero. Nobody has spent time that is to come. */
export async function spendTime(
  tx: Tx,
  { type, id }: Timed,
  userId: number,
  { seconds, summary = null, at }: Spent,
): Promise<void> {
  if (at !== undefined && at.getTime() > Date.now())
    throw invalid({ spent_at: ["can't be a future date and time."] })
  const { table, spent } = sums[type]
  const { rows } = await sql`
    update ${table} t set ${spent} = t.${spent} + ${seconds}::bigint, updated_at = now()
    where t.id = ${id} and t.${spent} + ${seconds}::bigint between 0 and 2147483647 returning t.id`.execute(
    tx,
  )
  if (rows.length === 0) {
    throw invalid({
      base: [seconds < 0 ? 'Time to subtract exceeds the total time spent' : 'Time spent is too much'],
    })
  }
  await sql`
    insert into timelogs (noteable_type, noteable_id, user_id, time_spent, summary, spent_at)
    values (${type}, ${id}, ${userId}, ${seconds}, ${summary}, coalesce(${at ?? null}::timestamptz, now()))`.execute(
    tx,
  )
}

/** Forgets all time that was logged. */
export async function resetSpentTime(tx: Tx, { type, id }: Timed): Promise<void> {
  const { table, spent } = sums[type]
  await sql`delete from timelogs t where t.noteable_type = ${type} and t.noteable_id = ${id}`.execute(tx)
  await sql`update ${table} t set ${spent} = 0, updated_at = now() where t.id = ${id}`.execute(tx)
}

export async function setTimeEstimate(tx: Tx, { type, id }: Timed, seconds: number): Promise<void> {
  await sql`
    update ${sums[type].table} t set time_estimate = ${seconds}, updated_at = now() where t.id = ${id}`.execute(
    tx,
  )
}
