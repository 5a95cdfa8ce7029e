import { Role } from '../../../access/index.ts'

/** A link of a group to one of a directory, and who is in that one, as keys of names. */
export interface ResolvedLink {
  readonly id: number
  readonly provider: string
  /** `cn=developers` or the filter, for explanations. */
  readonly label: string
  readonly level: number
  readonly memberRoleId: number | null
  readonly people: ReadonlySet<string>
}

/** A direct membership of the group, the owner's place kept by nobody else counted by the plan itself. */
export interface CurrentMember {
  readonly userId: number
  readonly level: number
  readonly memberRoleId: number | null
  readonly ldap: boolean
  readonly override: boolean
  /** Counts as somebody who can look after the group: no bot, active, not expired. */
  readonly counts: boolean
}

/** Somebody with an account and a name in a directory. */
export interface Identity {
  readonly userId: number
  readonly provider: string
  readonly key: string
}

export interface GroupFacts {
  readonly links: readonly ResolvedLink[]
  readonly members: readonly CurrentMember[]
  /** Of everybody who is a member or is wanted. */
  readonly identities: readonly Identity[]
  /** The levels in each of the groups above, by user. */
  readonly above: readonly ReadonlyMap<number, number>[]
  /** Somebody owns a group above, and so this one. */
  readonly ownedFromAbove: boolean
}

export interface Change {
  readonly userId: number
  readonly action: 'add' | 'change' | 'mark' | 'remove'
  readonly from: number | null
  readonly to: number | null
  readonly memberRoleId: number | null
  /** In words, for people. */
  readonly because: string
}

/** What is left as it is although the directory says otherwise. */
export interface Kept {
  readonly userId: number
  readonly level: number
  readonly because: string
}

export interface Plan {
  readonly changes: readonly Change[]
  readonly kept: readonly Kept[]
  /** Names in the directory that belong to no account here: they come in with their first sign-in. */
  readonly unknown: number
}

interface Wanted {
  readonly level: number
  readonly memberRoleId: number | null
  readonly because: string
}

/** What a sync of one group would do, and why (completions of part 2, 3.2). Pure: it asks nobody. */
export function planGroup(facts: GroupFacts): Plan {
  const { links, members, identities } = facts
  const providers = new Set(links.map(({ provider }) => provider))
  const wanted = wantedByUser(facts)
  const known = new Set(identities.map(({ provider, key }) => `${provider} ${key}`))
  const names = new Set(
    links.flatMap(({ provider, people }) => [...people].map((key) => `${provider} ${key}`)),
  )
  const looked = usersOf(identities, providers)

  const changes: Change[] = []
  const kept: Kept[] = []
  const current = new Map(members.map((member) => [member.userId, member]))
  for (const [userId, want] of wanted) {
    const member = current.get(userId)
    if (member === undefined) {
      changes.push({
        userId,
        action: 'add',
        from: null,
        to: want.level,
        memberRoleId: want.memberRoleId,
        because: want.because,
      })
    } else if (member.override) {
      if (member.level !== want.level)
        kept.push({ userId, level: member.level, because: 'its level was changed by hand (override)' })
      if (!member.ldap) changes.push(marked(member))
    } else if (member.level !== want.level || member.memberRoleId !== want.memberRoleId) {
      changes.push({
        userId,
        action: 'change',
        from: member.level,
        to: want.level,
        memberRoleId: want.memberRoleId,
        because: want.because,
      })
    } else if (!member.ldap) changes.push(marked(member))
  }
  for (const { userId, level } of members) {
    if (wanted.has(userId) || !looked.has(userId)) continue
    changes.push({
      userId,
      action: 'remove',
      from: level,
      to: null,
      memberRoleId: null,
      because: 'is in no linked group of the directory any more',
    })
  }
  return {
    ...keepAnOwner(facts, changes, kept),
    unknown: [...names].filter((name) => !known.has(name)).length,
  }
}

function marked({ userId, level, memberRoleId }: CurrentMember): Change {
  return {
    userId,
    action: 'mark',
    from: level,
    to: level,
    memberRoleId,
    because: 'the directory gives this membership from now on',
  }
}

/** The highest level of all links wins, and the role goes with the winner; nobody gets less than he has above. */
function wantedByUser({ links, identities, above }: GroupFacts): Map<number, Wanted> {
  const accounts = new Map(identities.map(({ provider, key, userId }) => [`${provider} ${key}`, userId]))
  const wanted = new Map<number, Wanted>()
  for (const { provider, people, label, level, memberRoleId } of links) {
    for (const key of people) {
      const userId = accounts.get(`${provider} ${key}`)
      if (userId === undefined || (wanted.get(userId)?.level ?? -1) >= level) continue
      wanted.set(userId, { level, memberRoleId, because: `is in ${label} of ${provider}` })
    }
  }
  for (const [userId, want] of wanted) {
    const floor = Math.max(0, ...above.map((levels) => levels.get(userId) ?? 0))
    if (floor > want.level) {
      wanted.set(userId, {
        level: floor,
        memberRoleId: null,
        because: `${want.because}; has level ${floor} in a group above`,
      })
    }
  }
  return wanted
}

/** Those whom a sync of these providers may remove: who has a name only elsewhere is left alone. */
function usersOf(identities: readonly Identity[], providers: ReadonlySet<string>): Set<number> {
  const primary = new Map<number, string>()
  for (const { userId, provider } of identities) if (!primary.has(userId)) primary.set(userId, provider)
  return new Set([...primary].flatMap(([userId, provider]) => (providers.has(provider) ? [userId] : [])))
}

/** A group keeps an owner: of those who would go the one who was there first stays as he is. */
function keepAnOwner(
  { members, ownedFromAbove }: GroupFacts,
  changes: readonly Change[],
  kept: readonly Kept[],
): { changes: Change[]; kept: Kept[] } {
  const all = { changes: [...changes], kept: [...kept] }
  if (ownedFromAbove) return all
  const losing = new Set(
    changes.filter(({ from, to }) => from === Role.owner && to !== Role.owner).map(({ userId }) => userId),
  )
  if (losing.size === 0) return all
  const stays = members.some(
    ({ userId, level, counts }) => counts && level === Role.owner && !losing.has(userId),
  )
  const comes = changes.some(({ from, to }) => to === Role.owner && from !== Role.owner)
  if (stays || comes) return all
  const last = members.find(
    ({ userId, level, counts }) => counts && level === Role.owner && losing.has(userId),
  )
  if (last === undefined) return all
  return {
    changes: all.changes.filter(({ userId }) => userId !== last.userId),
    kept: [
      ...all.kept,
      { userId: last.userId, level: last.level, because: 'is the last owner of the group' },
    ],
  }
}

export interface RemovalLimit {
  readonly removalShare: number
  readonly removalMinimum: number
}

/** Why a sync stops and asks; undefined when it may go on. */
export function tooManyRemovals(
  { changes }: Plan,
  { members }: Pick<GroupFacts, 'members'>,
  { removalShare, removalMinimum }: RemovalLimit,
): string | undefined {
  const removed = changes.filter(({ action }) => action === 'remove').length
  if (removed <= removalMinimum || removed <= members.length * removalShare) return undefined
  return `The sync would remove ${removed} of ${members.length} members. Start it with confirm=true if that is right.`
}
