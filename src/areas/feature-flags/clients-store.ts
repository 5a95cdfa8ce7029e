import { sql } from 'kysely'
import { defaultFeatureLevels } from '../../access/index.ts'
import type { Reader, Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { FlagRow } from './entities.ts'
import { columns } from './store.ts'

/** The token of a project's programs, sealed for this place. */
export const secretContext = 'feature_flag_clients.secret'

/** Read together with the caller's access: `subject` is the project. */
export function secret(): Read<{ secret: string }> {
  return rows(sql`select c.secret from feature_flag_clients c where c.project_id = subject.id`)
}

export async function replace(
  db: Writer,
  projectId: number,
  { secret: sealed, digest }: { readonly secret: string; readonly digest: string },
): Promise<void> {
  await sql`
    insert into feature_flag_clients (project_id, secret, token_digest)
    values (${projectId}, ${sealed}, ${digest})
    on conflict (project_id) do update
      set secret = excluded.secret, token_digest = excluded.token_digest, created_at = now()`.execute(db)
}

/** The flags of a project for a program that shows its token; undefined where it is not the one, or flags are off. */
export async function flagsFor(
  db: Reader,
  projectId: number,
  digest: string,
): Promise<readonly FlagRow[] | undefined> {
  const { rows: found } = await sql<{ flags: FlagRow[] }>`
    select coalesce((
      select json_agg(x order by x.id) from (
        select ${columns} from feature_flags f where f.project_id = c.project_id) x), '[]') as flags
    from feature_flag_clients c join projects p on p.id = c.project_id
    where c.project_id = ${projectId} and c.token_digest = ${digest}
      and coalesce((p.feature_levels ->> 'feature_flags')::integer, ${defaultFeatureLevels.feature_flags}) > 0`.execute(
    db,
  )
  return found[0]?.flags
}
