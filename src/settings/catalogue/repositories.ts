import { Int, Nullable, OneOf } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

const forbiddenKey = 'A key that breaks it is refused when it is added, and no connection is made with it.'

/** A kind of SSH keys: any size, none at all, or a least size. */
function restriction(kind: string, ...bits: readonly number[]) {
  return setting(OneOf([0, -1, ...bits], {}), 0, {
    about: `Least size in bits of ${kind} keys; 0 is any size, -1 forbids them.`,
    effect: forbiddenKey,
  })
}

/** Repositories: what of them is shown, and how they are reached. */
export const repositorySettings = {
  diff_max_patch_bytes: setting(Int({ minimum: 204_800, maximum: 512_000 }), 204_800, {
    about: 'Bytes of the patch of one file that are shown.',
    effect: 'A larger patch is left out, and its file marked `too_large`.',
  }),
  diff_max_files: setting(Int({ minimum: 1000, maximum: 3000 }), 1000, {
    about: 'Files of one diff that are shown.',
    effect: 'Those beyond are left out.',
  }),
  diff_max_lines: setting(Int({ minimum: 50_000, maximum: 100_000 }), 50_000, {
    about: 'Lines of one diff that are shown.',
    effect: 'The patches beyond are left out, and their files marked `too_large`.',
  }),
  receive_max_input_size: setting(Nullable(Int({ minimum: 0 })), null, {
    about: 'MiB that one push may bring; null or 0 is no limit.',
    effect: 'A larger push is refused while it is received.',
  }),
  enabled_git_access_protocol: setting(Nullable(OneOf('ssh', 'http', 'all')), null, {
    about: 'The one protocol over which git may be used; null or `all` is both.',
    effect: 'Git over the other one is refused with a text that the client shows.',
  }),
  rsa_key_restriction: restriction('RSA', 1024, 2048, 3072, 4096),
  dsa_key_restriction: restriction('DSA', 1024, 2048, 3072),
  ecdsa_key_restriction: restriction('ECDSA', 256, 384, 521),
  ed25519_key_restriction: restriction('Ed25519', 256),
  ecdsa_sk_key_restriction: restriction('ECDSA security', 256),
  ed25519_sk_key_restriction: restriction('Ed25519 security', 256),
  max_ssh_key_lifetime: setting(Nullable(Int({ minimum: 1, maximum: 365 })), null, {
    about: 'Days after which an SSH key ends at the latest; null is no limit.',
    effect: 'A key without an earlier end gets this one.',
  }),
}
