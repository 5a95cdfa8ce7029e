import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

export interface SigningKey {
  readonly id: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const name = 'container_registry'
/** The place a key is sealed for. */
const secretContext = 'signing_keys.secret'
const makeKey = promisify(generateKeyPair)

/** The key that signs the registry's tokens: made the first time it is asked for, the same for all nodes. */
export async function loadKey(db: Database, cipher: Cipher): Promise<SigningKey> {
  const secret = (await storedKey(db)) ?? (await createKey(db, cipher))
  const privateKey = createPrivateKey(cipher.open(secret, secretContext))
  const publicKey = createPublicKey(privateKey)
  return { id: keyId(publicKey), privateKey, publicKey }
}

async function storedKey(db: Database): Promise<string | undefined> {
  const row = await db.reader
    .selectFrom('signing_keys as k')
    .select('k.secret')
    .where('k.name', '=', name)
    .executeTakeFirst()
  return row?.secret
}

/** Of several nodes that make one at once the first one's counts. */
async function createKey(db: Database, cipher: Cipher): Promise<string> {
  const { privateKey } = await makeKey('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  await sql`
    insert into signing_keys (name, secret) values (${name}, ${cipher.seal(pem, secretContext)})
    on conflict (name) do nothing`.execute(db.writer)
  return (await storedKey(db))!
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** As registries name keys: 30 bytes of the SHA-256 of the public key, in base32, twelve groups of four. */
function keyId(publicKey: KeyObject): string {
  const digest = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 30)
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = bits.match(/.{5}/g)!.map((five) => alphabet[parseInt(five, 2)])
  return letters.join('').match(/.{4}/g)!.join(':')
}
