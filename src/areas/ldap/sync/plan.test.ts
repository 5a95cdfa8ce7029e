import { describe, expect, test } from 'vitest'
import { planGroup, tooManyRemovals, type CurrentMember, type GroupFacts, type ResolvedLink } from './plan.ts'

const link = (level: number, people: readonly string[], more: Partial<ResolvedLink> = {}): ResolvedLink => ({
  id: level,
  provider: 'ldapmain',
  label: `cn=g${level}`,
  level,
  memberRoleId: null,
  people: new Set(people),
  ...more,
})
const member = (userId: number, level: number, more: Partial<CurrentMember> = {}): CurrentMember => ({
  userId,
  level,
  memberRoleId: null,
  ldap: true,
  override: false,
  counts: true,
  ...more,
})
const identity = (userId: number, key: string, provider = 'ldapmain') => ({ userId, key, provider })
const facts = (some: Partial<GroupFacts>): GroupFacts => ({
  links: [],
  members: [],
  identities: [],
  above: [],
  ownedFromAbove: true,
  ...some,
})
const done = (some: Partial<GroupFacts>) =>
  planGroup(facts(some)).changes.map(({ userId, action, from, to }) => [userId, action, from, to])

describe('a plan', () => {
  test('adds who has an account; others wait for their first sign-in', () => {
    const some = { links: [link(30, ['a', 'b'])], identities: [identity(1, 'a')] }
    expect(done(some)).toEqual([[1, 'add', null, 30]])
    expect(planGroup(facts(some)).unknown).toBe(1)
  })

  test('lets the highest link win, and its role with it', () => {
    const { changes } = planGroup(
      facts({
        links: [link(20, ['a'], { memberRoleId: 7 }), link(40, ['a'], { memberRoleId: 8 }), link(10, ['a'])],
        identities: [identity(1, 'a')],
      }),
    )
    expect(changes).toEqual([
      { userId: 1, action: 'add', from: null, to: 40, memberRoleId: 8, because: 'is in cn=g40 of ldapmain' },
    ])
  })

  test('raises to the most that somebody has above', () => {
    const above = [new Map([[1, 40]]), new Map([[1, 30]]), new Map([[2, 50]])]
    expect(done({ links: [link(20, ['a'])], identities: [identity(1, 'a')], above })).toEqual([
      [1, 'add', null, 40],
    ])
  })

  test('moves levels up and down, but not those changed by hand', () => {
    const some = {
      links: [link(30, ['a', 'b', 'c'])],
      identities: [identity(1, 'a'), identity(2, 'b'), identity(3, 'c')],
      members: [member(1, 10), member(2, 40), member(3, 50, { override: true })],
    }
    expect(done(some)).toEqual([
      [1, 'change', 10, 30],
      [2, 'change', 40, 30],
    ])
    expect(planGroup(facts(some)).kept).toEqual([
      { userId: 3, level: 50, because: 'its level was changed by hand (override)' },
    ])
  })

  test('takes over who was added by hand, and changes nothing when all is as it should be', () => {
    const some = { links: [link(30, ['a'])], identities: [identity(1, 'a')] }
    expect(done({ ...some, members: [member(1, 30, { ldap: false })] })).toEqual([[1, 'mark', 30, 30]])
    expect(done({ ...some, members: [member(1, 30)] })).toEqual([])
  })

  test('removes who has left, added by hand or with an override too; never who is in no directory', () => {
    expect(
      done({
        links: [link(30, ['x'])],
        identities: [identity(1, 'a'), identity(2, 'b'), identity(3, 'c')],
        members: [
          member(1, 30),
          member(2, 30, { ldap: false }),
          member(3, 30, { override: true }),
          member(4, 30),
        ],
      }),
    ).toEqual([
      [1, 'remove', 30, null],
      [2, 'remove', 30, null],
      [3, 'remove', 30, null],
    ])
  })

  test('leaves alone whose name is in another directory', () => {
    expect(
      done({
        links: [link(30, ['x'])],
        identities: [identity(1, 'a', 'ldapother')],
        members: [member(1, 30)],
      }),
    ).toEqual([])
  })

  test('joins the links of several directories', () => {
    expect(
      done({
        links: [link(30, ['a']), link(40, ['b'], { provider: 'ldapother' })],
        identities: [identity(1, 'a'), identity(2, 'b', 'ldapother')],
        members: [member(1, 30), member(2, 30)],
      }),
    ).toEqual([[2, 'change', 30, 40]])
  })

  test.each([
    ['removed', [] as string[], 50],
    ['lowered', ['a'], 50],
  ])('does not let the last owner be %s', (_, people, level) => {
    const plan = planGroup(
      facts({
        links: [link(30, people)],
        identities: [identity(1, 'a')],
        members: [member(1, level)],
        ownedFromAbove: false,
      }),
    )
    expect(plan.changes).toEqual([])
    expect(plan.kept).toEqual([{ userId: 1, level: 50, because: 'is the last owner of the group' }])
  })

  test('lets an owner go when another one stays, comes, or is above', () => {
    const base = { links: [link(50, ['n'])], identities: [identity(1, 'a')], members: [member(1, 50)] }
    const gone = [[1, 'remove', 50, null]]
    expect(done({ ...base, members: [...base.members, member(9, 50)], ownedFromAbove: false })).toEqual(gone)
    expect(done({ ...base, ownedFromAbove: true })).toEqual(gone)
    expect(
      done({ ...base, identities: [...base.identities, identity(2, 'n')], ownedFromAbove: false }),
    ).toEqual([[2, 'add', null, 50], ...gone])
    // A bot is no owner.
    expect(
      done({ ...base, members: [...base.members, member(9, 50, { counts: false })], ownedFromAbove: false }),
    ).toEqual([])
  })
})

test('too many removals at once are asked about', () => {
  const limit = { removalShare: 0.5, removalMinimum: 2 }
  const removing = (gone: number, of: number) => {
    const members = Array.from({ length: of }, (_, at) => member(at + 1, 30))
    const some = facts({
      links: [
        link(
          30,
          members.slice(gone).map(({ userId }) => `p${userId}`),
        ),
      ],
      identities: members.map(({ userId }) => identity(userId, `p${userId}`)),
      members,
    })
    return tooManyRemovals(planGroup(some), some, limit)
  }
  expect(removing(5, 10)).toBeUndefined()
  expect(removing(6, 10)).toBe(
    'The sync would remove 6 of 10 members. Start it with confirm=true if that is right.',
  )
  expect(removing(2, 2)).toBeUndefined()
})
