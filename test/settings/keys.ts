import { generateKeyPairSync, randomBytes } from 'node:crypto'
import ssh2 from 'ssh2'

const options = { rsa: { bits: 2048 }, ecdsa: { bits: 256 }, ed25519: {} } as const

/** Kinds that our library makes no keys of: their names on the wire, and the fields after them. */
const others = {
  dsa: ['ssh-dss', () => [number(128), number(20), number(128), number(128)]],
  ed25519_sk: ['sk-ssh-ed25519@openssh.com', () => [randomBytes(32), Buffer.from('ssh:')]],
  ecdsa_sk: [
    'sk-ecdsa-sha2-nistp256@openssh.com',
    () => [Buffer.from('nistp256'), point(), Buffer.from('ssh:')],
  ],
} as const satisfies Record<string, readonly [string, () => Buffer[]]>

/** A positive number of so many bytes, as they stand in keys: with a zero before a first bit that is set. */
function number(bytes: number): Buffer {
  const value = randomBytes(bytes + 1)
  value[0] = 0
  value[1]! |= 0x80
  return value
}

/** A public point of the curve P-256. */
function point(): Buffer {
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  return Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')])
}

function field(value: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(value.length)
  return Buffer.concat([length, value])
}

export type KeyKind = keyof typeof options | keyof typeof others

/** The public half of a new key of a kind, in one line. */
export function publicKeyOf(kind: KeyKind): string {
  if (kind in others) {
    const [name, fields] = others[kind as keyof typeof others]
    const blob = Buffer.concat([Buffer.from(name), ...fields()].map(field))
    return `${name} ${blob.toString('base64')}`
  }
  return madeBySsh(kind as keyof typeof options)
}

/** Every 256th Ed25519 key of the library lacks a byte. */
function madeBySsh(kind: keyof typeof options): string {
  for (;;) {
    const key = ssh2.utils.generateKeyPairSync(kind, options[kind] as { bits: number }).public
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key
  }
}
