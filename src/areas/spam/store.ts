import { sql } from 'kysely'
import type { Reader, Writer } from '../../kernel/db/index.ts'
import type { Content, Kind } from './guard.ts'

/** Characters of a text that are kept. */
const longest = 10_000

interface Refusal {
  readonly id: number
  readonly userId: number
  readonly kind: Kind
}

export async function add(db: Writer, { kind, title, text, author, request }: Content): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into spam_logs (user_id, kind, title, description, source_ip, user_agent)
    values (${author.id}, ${kind}, ${title?.slice(0, longest)}, ${text.slice(0, longest)}, ${request.ip},
      ${request.headers['user-agent']?.slice(0, longest)})
    returning id`.execute(db)
  return rows[0]!.id
}

export async function isOpen(db: Reader, { id, userId, kind }: Refusal): Promise<boolean> {
  const { rows } = await sql`
    select from spam_logs l
    where l.id = ${id} and l.user_id = ${userId} and l.kind = ${kind} and l.captcha_solved_at is null`.execute(
    db,
  )
  return rows.length > 0
}

/** False: it was solved in this very moment. */
export async function solve(db: Writer, { id, userId, kind }: Refusal): Promise<boolean> {
  const { rows } = await sql`
    update spam_logs l set captcha_solved_at = now()
    where l.id = ${id} and l.user_id = ${userId} and l.kind = ${kind} and l.captcha_solved_at is null
    returning l.id`.execute(db)
  return rows.length > 0
}
