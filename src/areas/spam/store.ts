import { sql, type Reader, type Writer } from '../../kernel/db/index.ts'
import type { Content, Kind } from './guard.ts'

/** Characters of a text that are kept. */
const longest = 10_000

interface Refusal {
  readonly id: number
  readonly userId: number
  readonly kind: Kind
}

/** `solvable`: whether its author may say it once a captcha is solved. */
export async function add(
  db: Writer,
  { kind, title, text, author, request }: Content,
  solvable: boolean,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into spam_logs (user_id, kind, title, description, source_ip, user_agent, solvable)
    values (${author.id}, ${kind}, ${title?.slice(0, longest)}, ${text.slice(0, longest)}, ${request.ip},
      ${request.headers['user-agent']?.slice(0, longest)}, ${solvable})
    returning id`.execute(db)
  return rows[0]!.id
}

export async function isOpen(db: Reader, { id, userId, kind }: Refusal): Promise<boolean> {
  const { rows } = await sql`
    select from spam_logs l
    where l.id = ${id} and l.user_id = ${userId} and l.kind = ${kind} and l.solvable and l.captcha_solved_at is null`.execute(
    db,
  )
  return rows.length > 0
}

/** False: it was solved in this very moment. */
export async function solve(db: Writer, { id, userId, kind }: Refusal): Promise<boolean> {
  const { rows } = await sql`
    update spam_logs l set captcha_solved_at = now()
    where l.id = ${id} and l.user_id = ${userId} and l.kind = ${kind} and l.solvable and l.captcha_solved_at is null
    returning l.id`.execute(db)
  return rows.length > 0
}

/** What the spam-check server is told of an author. */
export interface Person {
  readonly organization: string | null
  readonly created_at: string
  readonly emails: readonly { readonly email: string; readonly verified: boolean }[]
}

export async function person(db: Reader, id: number): Promise<Person> {
  const { rows } = await sql<Person>`
    select u.profile ->> 'organization' as organization, u.created_at,
      (select json_agg(json_build_object('email', a.email, 'verified', a.verified) order by a.rank, a.email)
       from (select 0 as rank, u.email, u.confirmed_at is not null as verified
             union all
             select 1, e.email, e.confirmed_at is not null from user_emails e where e.user_id = u.id) a) as emails
    from users u where u.id = ${id}`.execute(db)
  return rows[0]!
}
