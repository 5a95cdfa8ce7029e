import { sql, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { FreezePeriod } from './rules.ts'

export interface FreezePeriodRow extends FreezePeriod {
  readonly id: number
  readonly created_at: string
  readonly updated_at: string
}

const columns = sql`f.id, f.freeze_start, f.freeze_end, f.cron_timezone, f.created_at, f.updated_at`

/** Read together with the caller's access: `subject` is the project. */
export function list(input: PageInput): Read<FreezePeriodRow> {
  const from = sql`from freeze_periods f where f.project_id = subject.id`
  return page({ columns, from, order: sql`f.created_at, f.id` }, input)
}

export function one(id: number): Read<FreezePeriodRow> {
  return rows(sql`select ${columns} from freeze_periods f where f.id = ${id} and f.project_id = subject.id`)
}

export async function create(
  db: Writer,
  projectId: number,
  { freeze_start, freeze_end, cron_timezone }: FreezePeriod,
): Promise<FreezePeriodRow> {
  const { rows: made } = await sql<FreezePeriodRow>`
    insert into freeze_periods as f (project_id, freeze_start, freeze_end, cron_timezone)
    values (${projectId}, ${freeze_start}, ${freeze_end}, ${cron_timezone}) returning ${columns}`.execute(db)
  return made[0]!
}

/** Undefined where it is gone. */
export async function change(
  db: Writer,
  id: number,
  { freeze_start, freeze_end, cron_timezone }: FreezePeriod,
): Promise<FreezePeriodRow | undefined> {
  const { rows: changed } = await sql<FreezePeriodRow>`
    update freeze_periods f set freeze_start = ${freeze_start}, freeze_end = ${freeze_end},
      cron_timezone = ${cron_timezone}, updated_at = now()
    where f.id = ${id} returning ${columns}`.execute(db)
  return changed[0]
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from freeze_periods f where f.id = ${id}`.execute(db)
}
