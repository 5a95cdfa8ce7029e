import { choice, flag, intOrNull } from '../kinds.ts'

/** A kind of SSH keys: any size, none at all, or a least size. */
function restriction<const Bits extends number>(kind: string, ...bits: readonly Bits[]) {
  const about = `Least size in bits of ${kind} keys; 0 is any size, -1 forbids them. A key that breaks it is refused when it is added, and no connection is made with it.`
  return choice<0 | -1 | Bits>([0, -1, ...bits], 0, about)
}

/** SSH keys: which are good enough, and for how long. */
export const keySettings = {
  rsa_key_restriction: restriction('RSA', 1024, 2048, 3072, 4096),
  dsa_key_restriction: restriction('DSA', 1024, 2048, 3072),
  ecdsa_key_restriction: restriction('ECDSA', 256, 384, 521),
  ed25519_key_restriction: restriction('Ed25519', 256),
  ecdsa_sk_key_restriction: restriction('ECDSA security', 256),
  ed25519_sk_key_restriction: restriction('Ed25519 security', 256),
  authorized_keys_enabled: flag(true, 'Whether SSH keys are written to the authorized_keys file.', {
    recorded: true,
  }),
  max_ssh_key_lifetime: intOrNull(
    null,
    'Days after which an SSH key ends at the latest; null is no limit. A key without an earlier end gets this one.',
    { min: 1, max: 365, plan: 'ultimate' },
  ),
}
