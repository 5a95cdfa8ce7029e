import { AndFilter, EqualityFilter, PresenceFilter, type Entry, type Filter } from 'ldapts'
import type { LdapServer } from '../config.ts'
import { dnKey } from '../../../kernel/lib/distinguished-names.ts'
import { passwordFits, Connection } from './connection.ts'

/** Somebody as a directory knows him. */
export interface DirectoryPerson {
  readonly dn: string
  readonly key: string
  readonly username: string
  readonly email: string | undefined
  readonly name: string
  readonly sshKeys: readonly string[]
  /** Switched off there. */
  readonly disabled: boolean
}

/** The person of this login when the password fits; undefined when there is none, several, or it does not. */
export async function signIn(
  server: LdapServer,
  login: string,
  password: string,
): Promise<DirectoryPerson | undefined> {
  if (password === '') return undefined
  const name = server.allowUsernameOrEmailLogin ? login.split('@')[0]! : login
  if (name === '') return undefined
  await using connection = await Connection.open(server)
  const found = await connection.search(
    server.base,
    within(server, new EqualityFilter({ attribute: server.uid, value: name })),
    attributesOf(server),
  )
  if (found.length !== 1) return undefined
  const person = personOf(server, found[0]!)
  if (person === undefined || person.disabled) return undefined
  return (await passwordFits(server, person.dn, password)) ? person : undefined
}

/** Everybody whom the server lets in, by the key of the name. */
export async function allPeople(connection: Connection): Promise<Map<string, DirectoryPerson>> {
  const { server } = connection
  const all = within(server, new PresenceFilter({ attribute: server.uid }))
  const entries = await connection.search(server.base, all, attributesOf(server))
  const people = entries.flatMap((entry) => personOf(server, entry) ?? [])
  return new Map(people.map((person) => [person.key, person]))
}

/** A filter together with the one that the server's people must meet. */
export function within({ userFilter }: LdapServer, filter: Filter): Filter {
  return userFilter === undefined ? filter : new AndFilter({ filters: [filter, userFilter] })
}

function attributesOf({ uid, attributes, sshKeys, activeDirectory }: LdapServer): string[] {
  return [
    ...new Set([
      uid,
      ...Object.values(attributes).flat(),
      ...(sshKeys === undefined ? [] : [sshKeys]),
      ...(activeDirectory ? ['userAccountControl'] : []),
    ]),
  ]
}

function personOf(server: LdapServer, entry: Entry): DirectoryPerson | undefined {
  const { attributes, sshKeys, lowercaseUsernames } = server
  const key = dnKey(entry.dn)
  const username = first(entry, attributes.username)?.split('@')[0]
  if (key === undefined || key === '' || username === undefined) return undefined
  const parts = [first(entry, attributes.firstName), first(entry, attributes.lastName)]
  const name = first(entry, attributes.name) ?? parts.filter((part) => part !== undefined).join(' ')
  return {
    dn: entry.dn,
    key,
    username: lowercaseUsernames ? username.toLowerCase() : username,
    email: first(entry, attributes.email),
    name: name === '' ? username : name,
    sshKeys: sshKeys === undefined ? [] : valuesOf(entry, sshKeys),
    // Bit 2 of this attribute switches an account off.
    disabled: server.activeDirectory && (Number(first(entry, ['userAccountControl']) ?? 0) & 2) !== 0,
  }
}

/** The first value of the first of these attributes that there is. */
function first(entry: Entry, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = valuesOf(entry, name)[0]
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/** Names of attributes have no case. */
export function valuesOf(entry: Entry, name: string): string[] {
  const wanted = name.toLowerCase()
  return Object.entries(entry).flatMap(([key, value]) =>
    key.toLowerCase() === wanted && key !== 'dn' ? [value].flat().map(String) : [],
  )
}
