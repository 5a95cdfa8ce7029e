import { endpoint, project } from '../../access/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { DateOnly, Fields, Int, ListOf, rows, type Endpoint } from '../../kernel/endpoint/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Schedule, Task } from '../../tasks/index.ts'

/** Days that are told of, today among them. */
const daysShown = 30
const today = sql`(now() at time zone 'utc')::date`
const forget = 'projects:forget-fetches'

/** Counts a fetch, off its path: a slow write delays nobody, and a lost one costs nothing. */
export function fetchCounter({ db, log }: { db: Database; log: Logger }): (projectId: number) => void {
  return (projectId) => {
    sql`
      insert into project_fetches as f (project_id, day, count)
      select p.id, ${today}, 1 from projects p where p.id = ${projectId} for key share
      on conflict (project_id, day) do update set count = f.count + 1`
      .execute(db.writer)
      .catch((error: unknown) => log.warn({ err: error }, 'could not count a fetch'))
  }
}

/** How often code is fetched over HTTP. */
export function fetchStatistics({ db }: { readonly db: Database }): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
} {
  return {
    endpoints: [
      endpoint({
        method: 'GET',
        path: '/projects/:id/statistics',
        summary: 'Tell how often the code of a project was fetched',
        description: `Over HTTP, in the last ${daysShown} days; the newest comes first.`,
        on: project,
        may: 'read_project_statistics',
        answers: Fields({
          fetches: Fields({ total: Int(), days: ListOf(Fields({ count: Int(), date: DateOnly() })) }),
        }),
        read: () =>
          rows<{ readonly count: number; readonly date: string }>(sql`
            select f.count, f.day as date from project_fetches f
            where f.project_id = subject.id and f.day > ${today} - ${daysShown}::int order by f.day desc`),
        async handle({ rows: days }) {
          return { fetches: { total: days.reduce((sum, { count }) => sum + count, 0), days } }
        },
      }),
    ],
    tasks: [
      {
        name: forget,
        async run() {
          await sql`delete from project_fetches f where f.day <= ${today} - ${daysShown}::int`.execute(
            db.writer,
          )
        },
      },
    ],
    schedules: [{ task: forget, pattern: '37 2 * * *' }],
  }
}
