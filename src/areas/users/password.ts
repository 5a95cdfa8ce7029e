import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'

/** 32 MiB and about a tenth of a second, off the main thread. A digest keeps its own parameters, so these may grow. */
const cost = { N: 32_768, r: 8, p: 1 } as const
const keyLength = 32

interface Parameters {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** `scrypt$N$r$p$salt$key`, salt and key in base64url. */
export async function digestPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, keyLength, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** False for a text that is no digest of ours, too. */
export async function matchesPassword(password: string, digest: string): Promise<boolean> {
  const [kind, N, r, p, salt, key] = digest.split('$')
  if (kind !== 'scrypt' || salt === undefined || key === undefined) return false
  const expected = Buffer.from(key, 'base64url')
  const parameters = { N: Number(N), r: Number(r), p: Number(p) }
  const actual = await derive(password, Buffer.from(salt, 'base64url'), expected.length, parameters)
  return timingSafeEqual(actual, expected)
}

function derive(password: string, salt: Buffer, length: number, { N, r, p }: Parameters): Promise<Buffer> {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return new Promise((resolve, reject) => {
    // One spelling of a character: keyboards differ in how they compose it.
    scrypt(password.normalize('NFC'), salt, length, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
