import type { Entry, Filter } from 'ldapts'
import { describe, expect, test } from 'vitest'
import type { LdapServer } from '../config.ts'
import type { Connection } from './connection.ts'
import { DirectoryGroups, rangeOf } from './groups.ts'

// OpenLDAP sends no ranges; what Active Directory sends is played here.
const person = (number: number): string => `cn=p${number},ou=people,dc=x`
const people = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => person(from + at))

function connection(rest: (asked: string) => Entry | undefined): Connection {
  const first = {
    dn: 'cn=big,ou=groups,dc=x',
    cn: 'big',
    member: [],
    'member;range=0-1499': people(0, 1499),
  } as unknown as Entry
  const server = { groupBase: 'ou=groups,dc=x', base: 'ou=people,dc=x', uid: 'uid', activeDirectory: true }
  return {
    server: server as unknown as LdapServer,
    search: async (_base: string, _filter: Filter, attributes: readonly string[]) =>
      attributes.includes('cn') ? [first] : [],
    read: async (_dn: string, _filter: Filter, [asked]: readonly string[]) => rest(asked!),
  } as unknown as Connection
}

describe('a group that comes in ranges', () => {
  test('is read to its end', async () => {
    const asked: string[] = []
    const groups = new DirectoryGroups(
      connection((range) => {
        asked.push(range)
        return range === 'member;range=1500-*'
          ? { dn: 'cn=big', 'member;range=1500-2999': people(1500, 2999) }
          : { dn: 'cn=big', 'member;range=3000-*': people(3000, 3100) }
      }),
    )
    expect((await groups.membersOf(['Big'])).get('big')?.size).toBe(3101)
    expect(asked).toEqual(['member;range=1500-*', 'member;range=3000-*'])
  })

  test('that ends in the middle is known not at all', async () => {
    const groups = new DirectoryGroups(connection(() => undefined))
    await expect(groups.membersOf(['big'])).rejects.toThrow('ended in the middle')
  })
})

test('a range tells where the next one begins', () => {
  expect(rangeOf({ 'Member;Range=0-1': ['a', 'b'] }, 'member')).toEqual({ values: ['a', 'b'], next: 2 })
  expect(rangeOf({ 'member;range=2-*': 'c' }, 'member')).toEqual({ values: ['c'], next: undefined })
  expect(rangeOf({ member: ['a'], 'member;binary': 'x' }, 'member')).toBeUndefined()
})
