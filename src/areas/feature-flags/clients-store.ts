import { defaultFeatureLevels } from '../../access/index.ts'
import { sql, type Writer } from '../../kernel/db/index.ts'
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

/** What is asked of with the token of a project: none where it has no token, or its flags are off. */
export interface AskedRow {
  readonly token_digest: string
  readonly flags: readonly FlagRow[]
}

/** Read before the token is looked at, so that asking is one statement; `withFlags`: there are few in any project. */
export function asked(projectId: number, { withFlags }: { readonly withFlags: boolean }): Read<AskedRow> {
  const flags = sql`coalesce((
    select json_agg(x order by x.id) from (
      select ${columns} from feature_flags f where f.project_id = c.project_id) x), '[]')`
  return rows(sql`
    select c.token_digest, ${withFlags ? flags : sql`'[]'::json`} as flags
    from feature_flag_clients c join projects p on p.id = c.project_id
    where c.project_id = ${projectId}
      and coalesce((p.feature_levels ->> 'feature_flags')::integer, ${defaultFeatureLevels.feature_flags}) > 0`)
}
