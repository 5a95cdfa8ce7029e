import {
  AndFilter,
  EqualityFilter,
  OrFilter,
  PresenceFilter,
  SubstringFilter,
  type Entry,
  type Filter,
} from 'ldapts'
import { parseFilter } from '../config.ts'
import { dnKey, firstPart, isBelowDn } from '../../../kernel/lib/distinguished-names.ts'
import { DirectoryError, type Connection } from './connection.ts'
import { valuesOf, within } from './people.ts'

/** What holds the names of members, and what holds their user names. */
const dnAttributes = ['member', 'uniqueMember', 'submember', 'memberOf']
const uidAttribute = 'memberUid'
const memberAttributes = [...dnAttributes, uidAttribute]
/** Names that one search asks for. */
const batch = 100
/** Groups within groups that are followed; deeper ones are a mistake, or a circle. */
const deepest = 50

const present = new OrFilter({
  filters: memberAttributes.map((attribute) => new PresenceFilter({ attribute })),
})

function oneOf(attribute: string, values: readonly string[]): Filter {
  return new OrFilter({ filters: values.map((value) => new EqualityFilter({ attribute, value })) })
}

function* batches<T>(values: readonly T[]): Generator<T[]> {
  for (let at = 0; at < values.length; at += batch) yield values.slice(at, at + batch)
}

interface Group {
  readonly dns: readonly string[]
  readonly uids: readonly string[]
}

/** Groups of a directory and who is in them, each asked for once in the life of this object. */
export class DirectoryGroups {
  readonly #connection: Connection
  readonly #groups = new Map<string, Group>()
  readonly #uids = new Map<string, string | undefined>()
  /** A name stands in many groups. */
  readonly #keys = new Map<string, string | undefined>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Who is in these groups, by `cn` in lower case, as keys of names. A group that is not there has nobody. */
  async membersOf(cns: readonly string[]): Promise<Map<string, ReadonlySet<string>>> {
    const { groupBase, activeDirectory } = this.#connection.server
    const members = new Map<string, ReadonlySet<string>>()
    if (groupBase === undefined) return members
    const wanted = [...new Set(cns.map((cn) => cn.toLowerCase()))]
    const found = new Map<string, Group[]>()
    for (const names of batches(wanted)) {
      for (const entry of await this.#connection.search(groupBase, oneOf('cn', names), [
        'cn',
        ...memberAttributes,
      ])) {
        const group = await this.#take(entry)
        for (const cn of valuesOf(entry, 'cn'))
          found.set(cn.toLowerCase(), [...(found.get(cn.toLowerCase()) ?? []), group])
      }
    }
    if (activeDirectory) await this.#followAll([...found.values()].flat(), groupBase)
    await this.#findUids([...found.values()].flat())
    for (const cn of wanted) {
      const all = new Set<string>()
      for (const group of found.get(cn) ?? []) this.#collect(group, all, new Set())
      members.set(cn, all)
    }
    return members
  }

  /** Whom a filter finds among the server's people. */
  async membersBy(filter: string): Promise<ReadonlySet<string>> {
    const { server } = this.#connection
    const parsed = parseFilter(filter)
    if (parsed === undefined) throw new DirectoryError(server, 'a link has a filter that is none')
    const entries = await this.#connection.search(server.base, within(server, parsed), ['1.1'])
    return new Set(entries.flatMap(({ dn }) => this.#keyOf(dn) ?? []))
  }

  /** `cn` of the groups that somebody is directly in. */
  async groupsOf(dn: string, uid: string): Promise<string[]> {
    const { groupBase } = this.#connection.server
    if (groupBase === undefined) return []
    const filter = new OrFilter({
      filters: [
        ...['member', 'uniqueMember'].map((attribute) => new EqualityFilter({ attribute, value: dn })),
        new EqualityFilter({ attribute: uidAttribute, value: uid }),
      ],
    })
    const entries = await this.#connection.search(groupBase, filter, ['cn'])
    return entries.flatMap((entry) => valuesOf(entry, 'cn'))
  }

  /** Names of groups with this text in them, at most `limit`. */
  async named(search: string, limit: number): Promise<string[]> {
    const { groupBase } = this.#connection.server
    if (groupBase === undefined) return []
    const named: Filter =
      search === ''
        ? new PresenceFilter({ attribute: 'cn' })
        : new SubstringFilter({ attribute: 'cn', any: [search] })
    const filter = new AndFilter({ filters: [present, named] })
    const entries = await this.#connection.search(groupBase, filter, ['cn'])
    const names = entries.flatMap((entry) => valuesOf(entry, 'cn').slice(0, 1))
    return names.sort((one, other) => one.localeCompare(other, 'en')).slice(0, limit)
  }

  /** An entry as a group; large ones come in ranges, of which the rest is asked for. */
  async #take(entry: Entry): Promise<Group> {
    const key = this.#keyOf(entry.dn) ?? entry.dn
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const values = async (name: string): Promise<string[]> => [
      ...valuesOf(entry, name),
      ...(await this.#rangesOf(entry, name)),
    ]
    const group = {
      dns: (await Promise.all(dnAttributes.map(values))).flat(),
      uids: await values(uidAttribute),
    }
    this.#groups.set(key, group)
    return group
  }

  async #rangesOf(entry: Entry, name: string): Promise<string[]> {
    const all: string[] = []
    let range = rangeOf(entry, name)
    while (range !== undefined) {
      all.push(...range.values)
      if (range.next === undefined) return all
      const asked = `${name};range=${range.next}-*`
      const more = await this.#connection.read(entry.dn, new PresenceFilter({ attribute: 'objectClass' }), [
        asked,
      ])
      const following = more && rangeOf(more, name)
      if (following === undefined) {
        throw new DirectoryError(this.#connection.server, `the members of ${entry.dn} ended in the middle`)
      }
      range = following
    }
    return all
  }

  /** Looks up all groups within these groups, level by level. */
  async #followAll(groups: readonly Group[], groupBase: string): Promise<void> {
    const base = this.#keyOf(groupBase) ?? ''
    let level: readonly Group[] = groups
    const seen = new Set<string>(this.#groups.keys())
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth === deepest)
        throw new DirectoryError(this.#connection.server, 'groups lie too deep in one another')
      const inside = level
        .flatMap(({ dns }) => dns)
        .filter((dn) => {
          const key = this.#keyOf(dn)
          if (key === undefined || seen.has(key) || !isBelowDn(key, base)) return false
          seen.add(key)
          return true
        })
      level = await this.#groupsNamed(inside, groupBase)
    }
  }

  /** Those of these names that are groups. */
  async #groupsNamed(dns: readonly string[], groupBase: string): Promise<Group[]> {
    const wanted = new Set(dns.map((dn) => this.#keyOf(dn)))
    const groups: Group[] = []
    const parts = dns.flatMap((dn) => firstPart(dn) ?? [])
    for (const some of batches(parts)) {
      const named = new OrFilter({
        filters: some.map(({ type, value }) => new EqualityFilter({ attribute: type, value })),
      })
      const filter = new AndFilter({ filters: [present, named] })
      for (const entry of await this.#connection.search(groupBase, filter, memberAttributes)) {
        if (wanted.has(this.#keyOf(entry.dn))) groups.push(await this.#take(entry))
      }
    }
    return groups
  }

  async #findUids(groups: readonly Group[]): Promise<void> {
    const { server } = this.#connection
    const all = [...groups, ...this.#groups.values()].flatMap(({ uids }) =>
      uids.map((uid) => uid.toLowerCase()),
    )
    const missing = [...new Set(all)].filter((uid) => !this.#uids.has(uid))
    for (const uids of batches(missing)) {
      for (const entry of await this.#connection.search(
        server.base,
        within(server, oneOf(server.uid, uids)),
        [server.uid],
      )) {
        for (const uid of valuesOf(entry, server.uid))
          this.#uids.set(uid.toLowerCase(), this.#keyOf(entry.dn))
      }
      for (const uid of uids) if (!this.#uids.has(uid)) this.#uids.set(uid, undefined)
    }
  }

  #keyOf(dn: string): string | undefined {
    let key = this.#keys.get(dn)
    if (key === undefined) {
      key = dnKey(dn)
      this.#keys.set(dn, key)
    }
    return key
  }

  #collect(group: Group, into: Set<string>, path: Set<Group>): void {
    if (path.has(group)) return
    path.add(group)
    for (const dn of group.dns) {
      const key = this.#keyOf(dn)
      if (key === undefined || key === '') continue
      const nested = this.#connection.server.activeDirectory ? this.#groups.get(key) : undefined
      if (nested === undefined) into.add(key)
      else this.#collect(nested, into, path)
    }
    for (const uid of group.uids) {
      const key = this.#uids.get(uid.toLowerCase())
      if (key !== undefined) into.add(key)
    }
  }
}

/** Values of `member;range=0-1499`, and where the next ones begin. */
export function rangeOf(
  entry: Readonly<Record<string, unknown>>,
  name: string,
): { readonly values: string[]; readonly next: number | undefined } | undefined {
  for (const [key, value] of Object.entries(entry)) {
    const [, attribute, end] = /^([^;]+);range=\d+-(\d+|\*)$/i.exec(key) ?? []
    if (attribute?.toLowerCase() !== name.toLowerCase()) continue
    return { values: [value].flat().map(String), next: end === '*' ? undefined : Number(end) + 1 }
  }
  return undefined
}
