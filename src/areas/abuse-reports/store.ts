import { onConstraint, sql, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'

export interface Report {
  readonly user_id: number
  readonly category: string
  readonly message: string
  readonly reported_from_url: string | null
}

export interface ReportRow extends Omit<Report, 'user_id'> {
  readonly id: number
  readonly user: BasicUserRow
  readonly reporter: BasicUserRow
  readonly created_at: Date
}

const columns = sql`
  a.id, a.category, a.message, a.reported_from_url, a.created_at, ${basicUserJson('u')} as "user",
  ${basicUserJson('r')} as reporter`
const people = sql`join users u on u.id = a.user_id join users r on r.id = a.reporter_id`

export function list(input: PageInput): Read<ReportRow> {
  return page({ columns, from: sql`from abuse_reports a ${people}`, order: sql`a.id desc` }, input)
}

/** Whom a report is about, where there is such a user. */
export function reported(userId: number): Read<{ id: number }> {
  return rows(sql`select u.id from users u where u.id = ${userId} and u.kind = 'human'`)
}

export async function add(tx: Tx, reporterId: number, report: Report): Promise<ReportRow> {
  const { rows: made } = await sql<ReportRow>`
    with a as (
      insert into abuse_reports (user_id, reporter_id, category, message, reported_from_url)
      values (${report.user_id}, ${reporterId}, ${report.category}, ${report.message}, ${report.reported_from_url})
      returning *)
    select ${columns} from a ${people}`
    .execute(tx)
    .catch(onConstraint('abuse_reports_once', () => invalid({ user_id: ['has already been reported'] })))
    .catch(onConstraint('abuse_reports_not_oneself', () => invalid({ user_id: ['is yourself'] })))
  return made[0]!
}

export async function remove(tx: Tx, id: number): Promise<boolean> {
  const { rows: gone } = await sql`delete from abuse_reports a where a.id = ${id} returning 1`.execute(tx)
  return gone.length > 0
}
