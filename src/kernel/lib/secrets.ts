import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** What is kept of a token that is only compared: tokens are random, so a plain digest gives nothing away. */
export function digestToken(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Whether somebody knows a secret; how long it takes tells nothing of it. An empty secret nobody knows. */
export function isSameSecret(given: string, secret: string): boolean {
  const digests = [given, secret].map((text) => hash('sha256', text, 'buffer'))
  return secret !== '' && timingSafeEqual(digests[0]!, digests[1]!)
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** `prefix` and 20 random URL-safe characters (120 bits). */
export function newToken(prefix: string): string {
  return prefix + [...randomBytes(20)].map((byte) => alphabet[byte & 63]).join('')
}

/** Bytes. */
const nonceLength = 12

/** Encrypts what must be shown again, with AES-256-GCM; each text is bound to its place by `context`. */
export class Cipher {
  readonly #key: Buffer
  #nonces = Buffer.alloc(0)

  constructor(secretKey: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secretKey, '', 'guildhall encrypted columns v1', 32))
  }

  /** `context` names the column, for example `ci_variables.secret`: a text copied elsewhere does not open. */
  seal(plain: string, context: string): string {
    const nonce = this.#newNonce()
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(context))
    const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
  }

  /** Made many at a time: asking the system for a few bytes takes as long as sealing a short text. */
  #newNonce(): Buffer {
    if (this.#nonces.length === 0) this.#nonces = randomBytes(256 * nonceLength)
    const nonce = this.#nonces.subarray(0, nonceLength)
    this.#nonces = this.#nonces.subarray(nonceLength)
    return nonce
  }

  /** Throws when the key is another one or the text was changed. */
  open(sealed: string, context: string): string {
    const bytes = Buffer.from(sealed, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceLength))
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(nonceLength, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
  }

  /** A UUID that is the same on every node and at every start, and tells nothing of the key. */
  uuid(label: string): string {
    const bytes = createHmac('sha256', this.#key).update(label).digest().subarray(0, 16)
    bytes[6] = (bytes[6]! & 0x0f) | 0x80
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

  /** As `open`; undefined where that throws. */
  tryOpen(sealed: string, context: string): string | undefined {
    try {
      return this.open(sealed, context)
    } catch {
      return undefined
    }
  }
}
