import { sql } from 'kysely'
import type { Database, Reader } from '../../kernel/db/index.ts'
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

export interface DeployFacts {
  readonly enabled: boolean
  readonly can_push: boolean
  readonly owner_role: number | null
  readonly owner_admin: boolean
}

/** What a deploy key is in a project, and what its owner is there. */
export async function deployFacts(db: Reader, keyId: number, projectId: number): Promise<DeployFacts> {
  const { rows } = await sql<DeployFacts>`
    select d.deploy_key_id is not null as enabled, coalesce(d.can_push, false) as can_push,
      coalesce(u.admin and u.state = 'active', false) as owner_admin, (
        select max(m.access_level) from projects p join namespaces n on n.id = p.namespace_id,
          effective_memberships(n.traversal_ids, p.id) m
        where p.id = ${projectId} and m.user_id = u.id and u.state = 'active') as owner_role
    from ssh_keys k left join deploy_key_projects d on d.deploy_key_id = k.id and d.project_id = ${projectId}
      left join users u on u.id = k.creator_id
    where k.id = ${keyId}`.execute(db)
  return rows[0] ?? { enabled: false, can_push: false, owner_role: null, owner_admin: false }
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
