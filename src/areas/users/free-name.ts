import { sql, type Reader } from '../../kernel/db/index.ts'

/** What a name elsewhere becomes as a username, which obeys stricter rules. */
export function cleanName(name: string): string {
  const clean = name
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9_.-]+/g, '')
    .replace(/^[-.]+|[-.]+$/g, '')
    .replace(/(?:\.git|\.atom)+$/i, '')
    .slice(0, 200)
  return clean.length < 2 ? `user-${clean === '' ? 'x' : clean}` : clean
}

/** The name, or the first one with a number behind it that nothing has. */
export async function freeName(db: Reader, name: string): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select ${name}::text || case when number = 0 then '' else number::text end as name
    from generate_series(0, 10000) number
    where not exists (
      select from routes r where r.path_key = lower(${name}) || case when number = 0 then '' else number::text end)
    order by number limit 1`.execute(db)
  return rows[0]?.name ?? name
}
