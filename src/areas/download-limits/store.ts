import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'

/** Notes a download, and tells of how many projects the user has fetched code within these seconds. */
export async function note(db: Writer, userId: number, projectId: number, seconds: number): Promise<number> {
  const { rows } = await sql<{ projects: number }>`
    with noted as (
      insert into project_downloads as d (user_id, project_id) values (${userId}, ${projectId})
      on conflict (user_id, project_id) do update set downloaded_at = now())
    select count(*)::integer + 1 as projects from project_downloads d
    where d.user_id = ${userId} and d.project_id <> ${projectId}
      and d.downloaded_at > now() - make_interval(secs => ${seconds}::integer)`.execute(db)
  return rows[0]!.projects
}

export interface Reader {
  readonly id: number
  readonly name: string
  readonly email: string
}

/** Who is told: those who are named, or else every administrator. */
export async function alerted(tx: Tx, named: readonly number[]): Promise<Reader[]> {
  const whom = named.length === 0 ? sql`u.admin` : sql`u.id = any (${[...named]}::bigint[])`
  const { rows } = await sql<Reader>`
    select u.id, u.name, u.email from users u
    where ${whom} and u.state = 'active' and u.kind = 'human' order by u.id`.execute(tx)
  return rows
}

/** Shuts a user out, who begins anew when he is let in again. */
export async function ban(tx: Tx, userId: number): Promise<void> {
  await sql`update users u set state = 'banned', updated_at = now() where u.id = ${userId} and u.state = 'active'`.execute(
    tx,
  )
  await sql`delete from project_downloads d where d.user_id = ${userId}`.execute(tx)
}

/** The longest time that the instance may look back, in seconds. */
const longest = 864_000

export async function forgetOld(db: Writer): Promise<void> {
  await sql`
    delete from project_downloads d where d.downloaded_at < now() - make_interval(secs => ${longest})`.execute(
    db,
  )
}
