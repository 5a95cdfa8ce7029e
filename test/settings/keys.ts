import ssh2 from 'ssh2'

const options = { rsa: { bits: 2048 }, ecdsa: { bits: 256 }, ed25519: {} } as const

/** The public half of a new key of a kind, in one line. */
export function publicKeyOf(kind: keyof typeof options): string {
  return ssh2.utils.generateKeyPairSync(kind, options[kind] as { bits: number }).public
}
