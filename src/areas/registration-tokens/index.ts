import type { RawBuilder } from 'kysely'
import { sql, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { digestToken, newToken, type Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'

/** Where runners are registered for; of the instance: neither. */
export interface RegistrationPlace {
  readonly namespaceId: number | null
  readonly projectId: number | null
}

interface TokenServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Pick<Settings, 'values'>
}

const registrationTokenPrefix = 'GR1348941'
const context = 'ci_registration_tokens.secret'

/** The sealed token of a place, in a statement that knows it; empty where it cannot be shown. */
export function sealedTokenOf(
  column: 'namespace_id' | 'project_id',
  id: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(select coalesce(t.secret, '') from ci_registration_tokens t where ${sql.ref(`t.${column}`)} = ${id})`
}

/**
 * The token of a place, for those who look after it; made when somebody first looks. Null where the instance takes none,
 * and for one from before tokens were kept sealed, which works until it is reset. `sealed`: from `sealedTokenOf`.
 */
export async function shownToken(
  { db, cipher, settings }: TokenServices,
  place: RegistrationPlace,
  sealed: string | null,
): Promise<string | null> {
  if (!settings.values.allow_runner_registration_token) return null
  const found = sealed ?? (await ensureToken(db.writer, cipher, place)) ?? ''
  return found === '' ? null : cipher.open(found, context)
}

async function ensureToken(
  db: Writer,
  cipher: Cipher,
  { namespaceId, projectId }: RegistrationPlace,
): Promise<string | null> {
  const token = newToken(registrationTokenPrefix)
  // One that another request has just made stays.
  const { rows } = await sql<{ secret: string | null }>`
    insert into ci_registration_tokens as t (namespace_id, project_id, token_digest, secret)
    values (${namespaceId}, ${projectId}, ${digestToken(token)}, ${cipher.seal(token, context)})
    on conflict on constraint ci_registration_tokens_place do update set secret = t.secret
    returning t.secret`.execute(db)
  return rows[0]!.secret
}

/** A place's registration token, in place of the one before. */
export async function renewToken(
  tx: Tx,
  cipher: Cipher,
  { namespaceId, projectId }: RegistrationPlace,
): Promise<string> {
  const token = newToken(registrationTokenPrefix)
  await sql`
    insert into ci_registration_tokens (namespace_id, project_id, token_digest, secret)
    values (${namespaceId}, ${projectId}, ${digestToken(token)}, ${cipher.seal(token, context)})
    on conflict on constraint ci_registration_tokens_place
      do update set token_digest = excluded.token_digest, secret = excluded.secret, updated_at = now()`.execute(
    tx,
  )
  return token
}

/** Where the token registers runners for; undefined: nowhere. */
export async function findPlace(db: Reader, token: string): Promise<RegistrationPlace | undefined> {
  const { rows } = await sql<RegistrationPlace>`
    select t.namespace_id as "namespaceId", t.project_id as "projectId" from ci_registration_tokens t
    where t.token_digest = ${digestToken(token)}`.execute(db)
  return rows[0]
}
