import ssh2 from 'ssh2'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

const context = 'ssh_host_keys.secret'

/** In the order in which they are offered. */
const kinds = [
  { type: 'ed25519', make: () => ssh2.utils.generateKeyPairSync('ed25519').private },
  { type: 'ecdsa', make: () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 }).private },
  { type: 'rsa', make: () => ssh2.utils.generateKeyPairSync('rsa', { bits: 3072 }).private },
] as const

/** Of the library's Ed25519 keys every 256th cannot be read: it drops the first byte of a point when that is zero. */
function isReadable(key: string): boolean {
  return !(ssh2.utils.parseKey(key) instanceof Error)
}

function makeReadable(make: () => string): string {
  for (;;) {
    const key = make()
    if (isReadable(key)) return key
  }
}

/** The private keys by which clients know this service, made at its first start and the same on every node. */
export async function hostKeys({ db, cipher }: { db: Database; cipher: Cipher }): Promise<string[]> {
  const stored = async (): Promise<Map<string, string>> => {
    const { rows } = await sql<{ type: string; secret: string }>`
      select k.type, k.secret from ssh_host_keys k`.execute(db.reader)
    return new Map(rows.map(({ type, secret }) => [type, secret]))
  }
  const known = await stored()
  for (const { type, make } of kinds) {
    const old = known.get(type)
    if (old !== undefined && isReadable(cipher.open(old, context))) continue
    // Of two nodes that start at once the first one's key stays. No client knows a key that could not be read.
    await sql`
      insert into ssh_host_keys as k (type, secret) values (${type}, ${cipher.seal(makeReadable(make), context)})
      on conflict (type) do update set secret = excluded.secret where k.secret = ${old ?? null}`.execute(
      db.writer,
    )
  }
  const all = await stored()
  return kinds.map(({ type }) => cipher.open(all.get(type)!, context))
}
