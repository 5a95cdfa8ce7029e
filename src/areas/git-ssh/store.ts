import { sql, type Database, type Reader } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'

export interface KnownKey {
  readonly id: number
  readonly kind: 'user' | 'deploy'
  readonly user_id: number | null
  readonly creator_id: number | null
  readonly username: string | null
  readonly title: string
  readonly key: string
  readonly usage_type: string
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

/** The key with this fingerprint. By index: as many connections as come are no burden. */
export async function findKey(db: Reader, fingerprintSha256: string): Promise<KnownKey | undefined> {
  const { rows } = await sql<KnownKey>`
    select k.id, k.kind, k.user_id, k.creator_id, u.username, k.title, k.key, k.usage_type, k.expires_at, k.last_used_at
    from ssh_keys k left join users u on u.id = k.user_id
    where k.fingerprint_sha256 = ${fingerprintSha256}`.execute(db)
  return rows[0]
}

/** Milliseconds between two notes of the use of a key. */
const noteInterval = 600_000

/** Beside the connection: a lost note costs nothing. */
export function noteUse({ db, log }: { db: Database; log: Logger }, key: KnownKey): void {
  if (key.last_used_at !== null && Date.now() - key.last_used_at.getTime() < noteInterval) return
  sql`update ssh_keys set last_used_at = now() where id = ${key.id}`
    .execute(db.writer)
    .catch((error: unknown) => log.warn({ err: error }, 'could not note the use of an SSH key'))
}
