import { expect, test } from 'vitest'
import { gpgFingerprint, gpgKey } from '../../../test/world/gpg-key.ts'
import { readPublicKey } from './public-key.ts'

test('a public key is known by its fingerprint, however its lines end', () => {
  expect(readPublicKey(gpgKey)?.fingerprint).toBe(gpgFingerprint)
  expect(readPublicKey(`\n${gpgKey.replaceAll('\n', '\r\n')}\n`)?.fingerprint).toBe(gpgFingerprint)
})

test.each([
  ['nothing', ''],
  ['another text', 'ssh-ed25519 AAAA'],
  ['an armor without a key', gpgKey.replace(/\n\n[^-]+/, '\n\n')],
  ['a key cut off', gpgKey.replace(/\n\n(.{20})[^-]+\n-----END/, '\n\n$1\n-----END')],
  ['something that begins in another way', gpgKey.replace('\n\nm', '\n\ni')],
  ['a private key', gpgKey.replaceAll('PUBLIC', 'PRIVATE')],
])('%s is none', (_what, text) => {
  expect(readPublicKey(text)).toBeUndefined()
})
