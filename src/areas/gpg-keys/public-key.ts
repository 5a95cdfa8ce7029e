import { createHash } from 'node:crypto'

/** A public key as people paste it, and the name it goes by. */
export interface PublicKey {
  readonly key: string
  /** In hex, capital letters. */
  readonly fingerprint: string
}

const armor =
  /^-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[A-Za-z]+: .*\r?\n)*\r?\n([A-Za-z0-9+/=\s]+?)(?:\r?\n=([A-Za-z0-9+/]{4}))?\r?\n-----END PGP PUBLIC KEY BLOCK-----\s*$/
const publicKeyPacket = 6

/** Reads an OpenPGP public key (RFC 9580) in its armor; undefined for any other text. */
export function readPublicKey(text: string): PublicKey | undefined {
  const key = text.trim()
  const [, body] = armor.exec(key) ?? []
  if (body === undefined) return undefined
  const packet = firstPacket(Buffer.from(body, 'base64'))
  if (packet?.tag !== publicKeyPacket) return undefined
  const fingerprint = fingerprintOf(packet.body)
  return fingerprint === undefined ? undefined : { key, fingerprint }
}

function firstPacket(bytes: Buffer): { tag: number; body: Buffer } | undefined {
  const [head = 0, first = 0] = bytes
  if ((head & 0x80) === 0) return undefined
  const isNew = (head & 0x40) !== 0
  const size = isNew ? newLength(bytes, first) : oldLength(bytes, head & 3)
  if (size === undefined) return undefined
  const [start, length] = size
  if (length === 0 || start + length > bytes.length) return undefined
  return { tag: isNew ? head & 0x3f : (head >> 2) & 0xf, body: bytes.subarray(start, start + length) }
}

/** Where the body begins, and how many bytes it has. */
type Extent = readonly [start: number, length: number]

function newLength(bytes: Buffer, first: number): Extent | undefined {
  if (first < 192) return [2, first]
  if (first < 224 && bytes.length > 2) return [3, ((first - 192) << 8) + bytes[2]! + 192]
  return first === 255 && bytes.length > 5 ? [6, bytes.readUInt32BE(2)] : undefined
}

function oldLength(bytes: Buffer, kind: number): Extent | undefined {
  if (kind === 0 && bytes.length > 1) return [2, bytes[1]!]
  if (kind === 1 && bytes.length > 2) return [3, bytes.readUInt16BE(1)]
  return kind === 2 && bytes.length > 4 ? [5, bytes.readUInt32BE(1)] : undefined
}

/** Keys of version 4 are named by a SHA-1, those of version 6 by a SHA-256. */
function fingerprintOf(body: Buffer): string | undefined {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  switch (body[0]) {
    case 4:
      return hex(
        createHash('sha1')
          .update(Buffer.from([0x99]))
          .update(length.subarray(2))
          .update(body),
      )
    case 6:
      return hex(
        createHash('sha256')
          .update(Buffer.from([0x9b]))
          .update(length)
          .update(body),
      )
    default:
      return undefined
  }
}

function hex(hash: ReturnType<typeof createHash>): string {
  return hash.digest('hex').toUpperCase()
}
