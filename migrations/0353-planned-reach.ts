import { sql, type Kysely } from 'kysely'

/**
 * What a user reaches is planned once a connection. As functions in SQL their texts became part of each statement that
 * asks whether a row may be seen, several times over, and were planned with it: 70 ms for a page of 20 issues, which
 * was found in one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const columns = {
    reachable_groups: 'group_id bigint, access_level smallint',
    reachable_projects: 'project_id bigint, access_level smallint',
    known_groups: 'group_id bigint',
  }
  for (const [name, made] of Object.entries(columns)) {
    const source = sql<{ text: string }>`
      select prosrc as text from pg_proc where oid = ${`${name}(bigint)`}::regprocedure`
    const { rows } = await source.execute(db)
    // Strict: who is not signed in reaches nothing, and it is not even asked.
    await sql`
      create or replace function ${sql.raw(name)}(member bigint) returns table (${sql.raw(made)})
      language plpgsql stable strict parallel safe as $$
        #variable_conflict use_column
        begin
          return query ${sql.raw(rows[0]!.text)};
        end $$`.execute(db)
  }
}
