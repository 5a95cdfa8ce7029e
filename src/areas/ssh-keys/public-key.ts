import { createHash } from 'node:crypto'

/** What is said of a kind of key in settings and refusals. */
export type KeyType = 'rsa' | 'dsa' | 'ecdsa' | 'ed25519' | 'ecdsa_sk' | 'ed25519_sk'

export interface PublicKey {
  readonly type: KeyType
  readonly bits: number
  /** As it is kept: algorithm, key in base64, comment. */
  readonly text: string
  /** MD5 in hex, with colons. */
  readonly fingerprint: string
  /** SHA-256 in base64, without its name and without padding. */
  readonly fingerprintSha256: string
}

const algorithms: Readonly<Record<string, KeyType>> = {
  'ssh-rsa': 'rsa',
  'ssh-dss': 'dsa',
  'ecdsa-sha2-nistp256': 'ecdsa',
  'ecdsa-sha2-nistp384': 'ecdsa',
  'ecdsa-sha2-nistp521': 'ecdsa',
  'ssh-ed25519': 'ed25519',
  'sk-ecdsa-sha2-nistp256@openssh.com': 'ecdsa_sk',
  'sk-ssh-ed25519@openssh.com': 'ed25519_sk',
}

/** A key in the one-line form of OpenSSH; undefined for what is none. Private keys are none. */
export function parsePublicKey(text: string): PublicKey | undefined {
  const [algorithm = '', encoded = '', ...comment] = text.trim().split(/[ \t]+/)
  const type = algorithms[algorithm]
  if (type === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || /[\r\n]/.test(text.trim())) {
    return undefined
  }
  const blob = Buffer.from(encoded, 'base64')
  const fields = readFields(blob)
  const bits = fields?.[0]?.toString('latin1') === algorithm ? bitsOf(type, algorithm, fields) : undefined
  if (bits === undefined) return undefined
  return {
    type,
    bits,
    text: [algorithm, encoded, ...comment].join(' '),
    fingerprint: createHash('md5')
      .update(blob)
      .digest('hex')
      .replaceAll(/(..)(?=.)/g, '$1:'),
    fingerprintSha256: fingerprintOf(blob),
  }
}

/** The SHA-256 fingerprint of a key as it comes over the wire. */
export function fingerprintOf(blob: Buffer): string {
  return createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')
}

/** Strings with their lengths before them; undefined when they do not come out even. */
function readFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = []
  for (let at = 0; at < blob.length;) {
    if (at + 4 > blob.length) return undefined
    const length = blob.readUInt32BE(at)
    if (at + 4 + length > blob.length) return undefined
    fields.push(blob.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return fields
}

function bitsOf(type: KeyType, algorithm: string, fields: readonly Buffer[]): number | undefined {
  switch (type) {
    case 'rsa':
      return fields.length === 3 ? bitLength(fields[2]!) : undefined
    case 'dsa':
      return fields.length === 5 ? bitLength(fields[1]!) : undefined
    case 'ecdsa':
      return fields.length === 3 ? Number(algorithm.slice(-3)) : undefined
    case 'ecdsa_sk':
      return fields.length === 4 ? 256 : undefined
    case 'ed25519':
      return fields.length === 2 && fields[1]!.length === 32 ? 256 : undefined
    case 'ed25519_sk':
      return fields.length === 3 && fields[1]!.length === 32 ? 256 : undefined
  }
}

/** Of a number as it is written on the wire: highest byte first, perhaps with a zero before. */
function bitLength(number: Buffer): number | undefined {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? undefined : (number.length - first) * 8 - Math.clz32(number[first]!) + 24
}
