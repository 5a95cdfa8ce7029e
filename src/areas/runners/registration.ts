import { sql } from 'kysely'
import type { Reader, Tx } from '../../kernel/db/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'

/** Where runners are registered for; of the instance: neither. */
export interface RegistrationPlace {
  readonly namespaceId: number | null
  readonly projectId: number | null
}

const registrationTokenPrefix = 'GR1348941'

/** A place's registration token, in place of the one before; it is to be shown this once. */
export async function renewRegistrationToken(
  tx: Tx,
  { namespaceId, projectId }: RegistrationPlace,
): Promise<string> {
  const token = newToken(registrationTokenPrefix)
  await sql`
    insert into ci_registration_tokens (namespace_id, project_id, token_digest)
    values (${namespaceId}, ${projectId}, ${digestToken(token)})
    on conflict on constraint ci_registration_tokens_place
      do update set token_digest = excluded.token_digest, updated_at = now()`.execute(tx)
  return token
}

/** Where the token registers runners for; undefined: nowhere. */
export async function findRegistrationPlace(
  db: Reader,
  token: string,
): Promise<RegistrationPlace | undefined> {
  const { rows } = await sql<RegistrationPlace>`
    select t.namespace_id as "namespaceId", t.project_id as "projectId" from ci_registration_tokens t
    where t.token_digest = ${digestToken(token)}`.execute(db)
  return rows[0]
}
