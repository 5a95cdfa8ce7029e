import { expect, test } from 'vitest'
import { dnKey, firstPart, isBelowDn } from './distinguished-names.ts'

test.each([
  ['uid=Ada,ou=People,dc=Example,dc=org', 'uid=ada,ou=people,dc=example,dc=org'],
  ['UID = ada , OU=People,DC=example', 'uid=ada,ou=people,dc=example'],
  ['uid=ada;dc=example', 'uid=ada,dc=example'],
  ['cn=Love\\, Ada,dc=x', 'cn=love\\, ada,dc=x'],
  ['cn=Love\\2c Ada,dc=x', 'cn=love\\, ada,dc=x'],
  ['cn="Love, Ada",dc=x', 'cn=love\\, ada,dc=x'],
  ['cn=J\\C3\\BCrgen,dc=x', 'cn=jürgen,dc=x'],
  ['cn=Jürgen,dc=x', 'cn=jürgen,dc=x'],
  ['uid=b+cn=a,dc=x', 'cn=a+uid=b,dc=x'],
  ['cn=a   b,dc=x', 'cn=a b,dc=x'],
  ['0.9.2342.19200300.100.1.1=ada,dc=x', '0.9.2342.19200300.100.1.1=ada,dc=x'],
  ['', ''],
])('%s is compared as %s', (dn, key) => {
  expect(dnKey(dn)).toBe(key)
})

test.each(['ada', '=ada', 'uid=ada,', 'uid=a\\', '-x=1', 'uid=a,,dc=x'])('%s is no name', (dn) => {
  expect(dnKey(dn)).toBeUndefined()
})

test('a name lies below another one by whole parts', () => {
  expect(isBelowDn('cn=a,ou=groups,dc=x', 'ou=groups,dc=x')).toBe(true)
  expect(isBelowDn('ou=groups,dc=x', 'ou=groups,dc=x')).toBe(false)
  expect(isBelowDn('cn=a,ou=mygroups,dc=x', 'ou=groups,dc=x')).toBe(false)
})

test('a name begins with its own part', () => {
  expect(firstPart('cn=Love\\, Ada,dc=x')).toEqual({ type: 'cn', value: 'Love, Ada' })
  expect(firstPart('cn=a+uid=b,dc=x')).toBeUndefined()
})
