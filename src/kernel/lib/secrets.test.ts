import { expect, test } from 'vitest'
import { Cipher, digestToken, newToken } from './secrets.ts'

const cipher = new Cipher('a key of at least thirty-two characters')

test.each(['', 'value', 'ünïcode ☃', 'x'.repeat(50_000)])('what is sealed opens again', (plain) => {
  expect(cipher.open(cipher.seal(plain, 'place'), 'place')).toBe(plain)
})

test('a sealed text opens with its own key, unchanged and in its own place only', () => {
  const sealed = cipher.seal('value', 'place')
  expect(() => cipher.open(sealed, 'elsewhere')).toThrow()
  expect(() => new Cipher('another key of thirty-two characters!').open(sealed, 'place')).toThrow()
  const bytes = Buffer.from(sealed, 'base64')
  bytes[bytes.length - 1]! ^= 1
  expect(() => cipher.open(bytes.toString('base64'), 'place')).toThrow()
})

test('the same text never looks the same twice', () => {
  expect(cipher.seal('value', 'place')).not.toBe(cipher.seal('value', 'place'))
})

test('tokens have their prefix, 20 characters, and a digest that does not show them', () => {
  const token = newToken('glpat-')
  expect(token).toMatch(/^glpat-[A-Za-z0-9_-]{20}$/)
  expect(newToken('glpat-')).not.toBe(token)
  expect(digestToken(token)).not.toContain(token.slice(6))
})
