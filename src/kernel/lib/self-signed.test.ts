import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { expect, test } from 'vitest'
import { selfSigned } from './self-signed.ts'

test.each(['runner.example.com', '192.0.2.7', '::1', '2001:db8::5:0:1', '::ffff:192.0.2.7'])(
  'a certificate is for %s, and no other host',
  (host) => {
    const { key, certificate } = selfSigned(host, 30)
    const read = new X509Certificate(certificate)
    const matches = (name: string): boolean =>
      (isIP(name) === 0 ? read.checkHost(name) : read.checkIP(name)) !== undefined
    expect([matches(host), matches('other.example.com'), matches('192.0.2.8')]).toEqual([true, false, false])
    expect(read.checkPrivateKey(createPrivateKey(key))).toBe(true)
    expect(read.verify(read.publicKey)).toBe(true)
    expect(read.ca).toBe(false)
    const days = (text: string): number => Math.round((Date.parse(text) - Date.now()) / 86_400_000)
    expect([days(read.validFrom), days(read.validTo)]).toEqual([-1, 30])
  },
)
