import { levelsWithoutSeat } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'
import { seatHolders } from './seats.ts'

const count = 'namespaces:count-seats'
const atOnce = 100

/** Each day, while who takes a seat matters: remembers how many were taken of each namespace at the top, at most. */
export function mostSeats({ db, plan }: { readonly db: Database; readonly plan: Plan }): {
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    tasks: [
      {
        name: count,
        async run() {
          if (!offers(plan, 'seats')) return
          let last: number | null = 0
          while (last !== null) last = await countAfter(last)
        },
      },
    ],
    schedules: [{ task: count, pattern: '47 2 * * *' }],
  }

  /** Answers the last id that was counted; null where there are no more. */
  async function countAfter(id: number): Promise<number | null> {
    const { rows } = await sql<{ last: number | null }>`
      with counted as (
        select n.id, (select count(*) from ${seatHolders(sql`n.id`, levelsWithoutSeat(plan))}) as seats
        from namespaces n where n.parent_id is null and n.id > ${id} order by n.id limit ${atOnce}
      ), kept as (
        insert into most_seats as m (namespace_id, seats) select c.id, c.seats from counted c where c.seats > 0
        on conflict (namespace_id) do update set seats = excluded.seats where m.seats < excluded.seats
      )
      select max(c.id) as last from counted c`.execute(db.writer)
    return rows[0]?.last ?? null
  }
}
