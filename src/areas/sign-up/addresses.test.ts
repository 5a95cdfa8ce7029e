import { expect, test } from 'vitest'
import { isAdmitted } from './addresses.ts'

const open = {
  domain_allowlist: [],
  domain_denylist: [],
  domain_denylist_enabled: false,
  email_restrictions: null,
  email_restrictions_enabled: false,
}

test.each<[email: string, rules: Partial<Parameters<typeof isAdmitted>[1]>, admitted: boolean]>([
  ['a@b.example', {}, true],
  ['a@b.example', { domain_allowlist: ['b.example'] }, true],
  ['a@B.Example', { domain_allowlist: ['b.exAMPLE'] }, true],
  ['a@sub.b.example', { domain_allowlist: ['b.example'] }, false],
  ['a@sub.b.example', { domain_allowlist: ['*.b.example'] }, true],
  ['a@b.example', { domain_allowlist: ['*.b.example'] }, false],
  ['a@bxexample', { domain_allowlist: ['b.example'] }, false],
  // An odd address is of the domain behind the last @.
  ['"a@b.example"@evil.example', { domain_allowlist: ['b.example'] }, false],
  ['a@b.example', { domain_denylist: ['b.example'] }, true],
  ['a@b.example', { domain_denylist: ['b.example'], domain_denylist_enabled: true }, false],
  ['a@c.example', { domain_denylist: ['b.example'], domain_denylist_enabled: true }, true],
  // Who is on the one list is not looked for on the other, nor restricted.
  [
    'a@b.example',
    { domain_allowlist: ['b.example'], domain_denylist: ['*'], domain_denylist_enabled: true },
    true,
  ],
  [
    'a+1@b.example',
    { domain_allowlist: ['b.example'], email_restrictions: '\\+', email_restrictions_enabled: true },
    true,
  ],
  ['a+1@b.example', { email_restrictions: '\\+', email_restrictions_enabled: true }, false],
  ['a@b.example', { email_restrictions: '\\+', email_restrictions_enabled: true }, true],
  ['a+1@b.example', { email_restrictions: '\\+' }, true],
  ['a@b.example', { email_restrictions: '', email_restrictions_enabled: true }, true],
])('%s under %j: %s', (email, rules, admitted) => {
  expect(isAdmitted(email, { ...open, ...rules })).toBe(admitted)
})
