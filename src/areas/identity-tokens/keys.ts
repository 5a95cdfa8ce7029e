import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importPKCS8,
  type CryptoKey,
  type JWK,
} from 'jose'
import { sql, type Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'

const algorithm = 'RS256'
const modulusLength = 3072
const context = 'identity_keys.secret'

export interface SigningKey {
  readonly kid: string
  readonly key: CryptoKey
}

/** The keys of the instance that sign identity tokens; the newest signs, all are published. */
export class SigningKeys {
  readonly #db: Database
  readonly #cipher: Cipher
  #signing: Promise<SigningKey> | undefined

  constructor({ db, cipher }: { db: Database; cipher: Cipher }) {
    this.#db = db
    this.#cipher = cipher
  }

  /** The key to sign with; made where there is none yet, which takes up to a second. */
  signing(): Promise<SigningKey> {
    this.#signing ??= this.#load().catch((error: unknown) => {
      this.#signing = undefined
      throw error
    })
    return this.#signing
  }

  /** The public halves, for whoever checks a token; the one that will sign the first among them. */
  async published(): Promise<JWK[]> {
    await this.signing()
    const { rows } = await sql<{ public: JWK }>`
      select k.public from identity_keys k order by k.id desc`.execute(this.#db.reader)
    return rows.map((row) => row.public)
  }

  async #load(): Promise<SigningKey> {
    const row = (await this.#newest()) ?? (await this.#make())
    return { kid: row.kid, key: await importPKCS8(this.#cipher.open(row.secret, context), algorithm) }
  }

  async #newest(): Promise<{ kid: string; secret: string } | undefined> {
    return this.#db.reader
      .selectFrom('identity_keys as k')
      .select(['k.kid', 'k.secret'])
      .orderBy('k.id', 'desc')
      .limit(1)
      .executeTakeFirst()
  }

  async #make(): Promise<{ kid: string; secret: string }> {
    const { privateKey, publicKey } = await generateKeyPair(algorithm, { modulusLength, extractable: true })
    const secret = this.#cipher.seal(await exportPKCS8(privateKey), context)
    const jwk = await exportJWK(publicKey)
    const kid = await calculateJwkThumbprint(jwk)
    await this.#db.transaction(async (tx) => {
      // Of several nodes that start at once, one makes it.
      await sql`select pg_advisory_xact_lock(hashtextextended('identity_keys', 13))`.execute(tx)
      await sql`
        insert into identity_keys (kid, secret, public)
        select ${kid}, ${secret}, ${JSON.stringify({ ...jwk, kid, use: 'sig', alg: algorithm })}::jsonb
        where not exists (select from identity_keys)`.execute(tx)
    })
    return (await this.#newest())!
  }
}
