import { expect, test } from 'vitest'
import { addedLines, linesOf } from './lines.ts'
import { findSecret } from './patterns.ts'

/** Put together here, so that this file is no secret itself. */
const secret = (...parts: string[]) => parts.join('')
const token = secret('gl', 'pat-', 'x'.repeat(20))

test.each([
  ['Personal access token', token],
  ['Private key', secret('-----BEGIN OPENSSH ', 'PRIVATE KEY-----')],
  ['Private key', secret('-----BEGIN ', 'PRIVATE KEY-----')],
  ['AWS access key', secret('AKIA', 'ABCDEFGHIJKLMNOP')],
  ['GitHub token', secret('ghp', '_', 'a1'.repeat(18))],
  ['Runner authentication token', secret('gl', 'rt-t1_', 'x'.repeat(20))],
  ['Slack token', secret('xoxb', '-123-456-', 'abcdefghij')],
])('%s', (name, text) => {
  expect(findSecret(linesOf(`first\nkey = "${text}"`))).toEqual({ name, line: 2 })
})

test.each([
  '',
  'glpat-short',
  '-----BEGIN PUBLIC KEY-----',
  'AKIAIOSFODNN7',
  `${token} # gitleaks:allow`,
  'x'.repeat(10_000) + token,
])('%s is none', (text) => {
  expect(findSecret(linesOf(text))).toBeUndefined()
})

test('of a diff only what it adds counts, by its line in the new file', () => {
  const kept = ` ${token}`
  const diff = ['@@ -1,3 +1,3 @@', kept, `-${token}`, '+a', '+b', '@@ -9,0 +10,2 @@', '+c', `+${token}`].join(
    '\n',
  )
  expect(findSecret(addedLines(diff))).toEqual({ name: 'Personal access token', line: 11 })
  expect(findSecret(addedLines(['@@ -1,2 +1,2 @@', kept, '+a'].join('\n')))).toBeUndefined()
})
