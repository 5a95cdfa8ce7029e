import { onConstraint, sql, type Tx } from '../../kernel/db/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { dnKey } from '../../kernel/lib/distinguished-names.ts'

/** The one spelling in which names elsewhere are compared; those of directories can be written in several. */
export function identityKey(provider: string, uid: string): string {
  const name = uid.trim()
  return (provider.startsWith('ldap') ? dnKey(name) : undefined) ?? name.toLowerCase()
}

/** Says who a user is elsewhere; with a provider that he has a name at already, that name changes. */
export async function identify(tx: Tx, userId: number, provider: string, uid: string): Promise<void> {
  await sql`
    insert into user_identities (user_id, provider, extern_uid, uid_key)
    values (${userId}, ${provider}, ${uid.trim()}, ${identityKey(provider, uid)})
    on conflict (user_id, provider) do update set extern_uid = excluded.extern_uid, uid_key = excluded.uid_key`
    .execute(tx)
    .catch(
      onConstraint('user_identities_uid', () =>
        invalid({ 'identities.extern_uid': ['has already been taken'] }),
      ),
    )
}

/** False where the user has none there. */
export async function forgetIdentity(tx: Tx, userId: number, provider: string): Promise<boolean> {
  const { rows } = await sql`
    delete from user_identities i where i.user_id = ${userId} and i.provider = ${provider} returning 1`.execute(
    tx,
  )
  return rows.length > 0
}
