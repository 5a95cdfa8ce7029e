import { generateKeyPairSync } from 'node:crypto'

/** A new Ed25519 key: the public half in one line, the private one in the form that `ssh` reads. */
export function newSshKey(comment = 'somebody@example'): {
  readonly publicKey: string
  readonly privateKey: string
} {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const bytes = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d!, 'base64url')
  const blob = Buffer.concat([field('ssh-ed25519'), field(bytes)])
  // Twice the same four bytes: readers see by it that nothing was encrypted.
  const check = Buffer.from('12341234')
  const secret = [
    check,
    field('ssh-ed25519'),
    field(bytes),
    field(Buffer.concat([seed, bytes])),
    field(comment),
  ]
  let inner = Buffer.concat(secret)
  for (let pad = 1; inner.length % 8 !== 0; pad += 1) inner = Buffer.concat([inner, Buffer.from([pad])])
  const outer = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[field('none'), field('none'), field('')],
    Buffer.from([0, 0, 0, 1]),
    ...[field(blob), field(inner)],
  ])
  const lines = outer.toString('base64').replaceAll(/.{70}/g, '$&\n')
  const label = 'OPENSSH PRIVATE KEY'
  return {
    publicKey: `ssh-ed25519 ${blob.toString('base64')} ${comment}`,
    privateKey: `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`,
  }
}

/** A text or bytes with its length before it. */
function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
