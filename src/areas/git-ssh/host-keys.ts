import { sql } from 'kysely'
import ssh2 from 'ssh2'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

const context = 'ssh_host_keys.secret'

/** In the order in which they are offered. */
const kinds = [
  { type: 'ed25519', make: () => ssh2.utils.generateKeyPairSync('ed25519').private },
  { type: 'ecdsa', make: () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private },
  { type: 'rsa', make: () => ssh2.utils.generateKeyPairSync('rsa', { bits: 3072 }).private },
] as const

/** The private keys by which clients know this service, made at its first start and the same on every node. */
export async function hostKeys({ db, cipher }: { db: Database; cipher: Cipher }): Promise<string[]> {
  const stored = async (): Promise<Map<string, string>> => {
    const { rows } = await sql<{ type: string; secret: string }>`
      select k.type, k.secret from ssh_host_keys k`.execute(db.reader)
    return new Map(rows.map(({ type, secret }) => [type, secret]))
  }
  const known = await stored()
  for (const { type, make } of kinds) {
    if (known.has(type)) continue
    // Of two nodes that start at once the first one's key stays.
    await sql`
      insert into ssh_host_keys (type, secret) values (${type}, ${cipher.seal(make(), context)})
      on conflict do nothing`.execute(db.writer)
  }
  const all = await stored()
  return kinds.map(({ type }) => cipher.open(all.get(type)!, context))
}
