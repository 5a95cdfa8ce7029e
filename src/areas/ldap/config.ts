import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { FilterParser, type Filter } from 'ldapts'
import { ConfigError } from '../../kernel/config/index.ts'
import { dnKey } from '../../kernel/lib/distinguished-names.ts'

/** A server of people and groups, as the file of `LDAP_CONFIG` describes it. */
export interface LdapServer {
  /** `ldap` and the key of the server: `ldapmain`. */
  readonly provider: string
  readonly label: string
  readonly hosts: readonly (readonly [host: string, port: number])[]
  readonly uid: string
  readonly base: string
  readonly encryption: 'plain' | 'start_tls' | 'simple_tls'
  readonly bindDn: string | undefined
  readonly password: string
  readonly verifyCertificates: boolean
  readonly tls: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly ciphers?: string
    readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  }
  /** Milliseconds; 0: none. */
  readonly timeout: number
  readonly activeDirectory: boolean
  readonly allowUsernameOrEmailLogin: boolean
  readonly blockAutoCreatedUsers: boolean
  readonly userFilter: Filter | undefined
  readonly lowercaseUsernames: boolean
  readonly retryEmptyResultWithCodes: readonly number[]
  readonly attributes: Readonly<
    Record<'username' | 'email' | 'name' | 'firstName' | 'lastName', readonly string[]>
  >
  readonly groupBase: string | undefined
  readonly adminGroup: string | undefined
  readonly externalGroups: readonly string[]
  /** Attribute that holds public SSH keys. */
  readonly sshKeys: string | undefined
  readonly syncName: boolean
}

export interface LdapConfig {
  readonly servers: readonly LdapServer[]
  readonly sync: {
    /** Crontab lines of five fields, in UTC. */
    readonly groups: string
    readonly users: string
    /** A sync that would take away more than this part of what the directory gave waits for a word... */
    readonly removalShare: number
    /** ...unless it is no more than this many. */
    readonly removalMinimum: number
  }
}

export const noLdap: LdapConfig = {
  servers: [],
  sync: { groups: '0 * * * *', users: '30 1 * * *', removalShare: 0.5, removalMinimum: 5 },
}

type Raw = Readonly<Record<string, unknown>>

/** Reads the file; every fault ends the start with one line that says where it is. `docs/ldap.md` tells of each key. */
export function readLdapConfig(file: string | undefined, environment: NodeJS.ProcessEnv): LdapConfig {
  if (file === undefined) return noLdap
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(
      `LDAP_CONFIG: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'}).`,
    )
  }
  let raw: unknown
  try {
    // YAML reads JSON too.
    raw = parse(text)
  } catch (error) {
    throw new ConfigError(`LDAP_CONFIG: ${(error as Error).message.split('\n')[0]!}`)
  }
  const top = new Keys(objectOf(raw, 'the file'), 'the file')
  const servers = objectOf(top.take('servers') ?? {}, 'servers')
  const sync = new Keys(objectOf(top.take('sync') ?? {}, 'sync'), 'sync')
  const config: LdapConfig = {
    servers: Object.entries(servers).map(([key, server]) =>
      readServer(key, objectOf(server, key), environment),
    ),
    sync: {
      groups: sync.text('groups') ?? noLdap.sync.groups,
      users: sync.text('users') ?? noLdap.sync.users,
      removalShare: sync.number('removal_share', [0, 1]) ?? noLdap.sync.removalShare,
      removalMinimum: sync.number('removal_minimum', [0, 1_000_000]) ?? noLdap.sync.removalMinimum,
    },
  }
  sync.end()
  top.end()
  return config
}

const ports = { plain: 389, start_tls: 389, simple_tls: 636 } as const

function readServer(key: string, raw: Raw, environment: NodeJS.ProcessEnv): LdapServer {
  if (!/^[a-z0-9_-]{1,50}$/.test(key)) throw wrong(key, 'is no name of a server')
  const keys = new Keys(raw, key)
  const encryption = keys.one('encryption', ['plain', 'start_tls', 'simple_tls'])
  const uid = keys.needed('uid')
  const attributes = new Keys(
    objectOf(keys.take('attributes') ?? {}, `${key}.attributes`),
    `${key}.attributes`,
  )
  const tls = new Keys(objectOf(keys.take('tls_options') ?? {}, `${key}.tls_options`), `${key}.tls_options`)
  const keyNames = keys.take('sync_ssh_keys')
  const server: LdapServer = {
    provider: `ldap${key}`,
    label: keys.needed('label'),
    hosts: readHosts(keys, ports[encryption]),
    uid,
    base: keys.dn('base') ?? needs(key, 'base'),
    encryption,
    bindDn: keys.text('bind_dn'),
    password: readSecret(keys, environment),
    verifyCertificates: keys.flag('verify_certificates') ?? true,
    tls: readTls(tls),
    timeout: (keys.number('timeout', [0, 3600]) ?? 10) * 1000,
    activeDirectory: keys.flag('active_directory') ?? true,
    allowUsernameOrEmailLogin: keys.flag('allow_username_or_email_login') ?? false,
    blockAutoCreatedUsers: keys.flag('block_auto_created_users') ?? false,
    userFilter: keys.filter('user_filter'),
    lowercaseUsernames: keys.flag('lowercase_usernames') ?? false,
    retryEmptyResultWithCodes: keys.list('retry_empty_result_with_codes').map(Number),
    attributes: {
      username: attributes.names('username', [uid]),
      email: attributes.names('email', ['mail', 'email', 'userPrincipalName']),
      name: attributes.names('name', ['cn']),
      firstName: attributes.names('first_name', ['givenName']),
      lastName: attributes.names('last_name', ['sn']),
    },
    groupBase: keys.dn('group_base'),
    adminGroup: keys.text('admin_group'),
    externalGroups: keys.list('external_groups'),
    sshKeys: keyNames === true ? 'sshPublicKey' : typeof keyNames === 'string' ? keyNames : undefined,
    syncName: keys.flag('sync_name') ?? true,
  }
  attributes.end()
  tls.end()
  keys.end()
  return server
}

function readHosts(keys: Keys, usualPort: number): LdapServer['hosts'] {
  const hosts = keys.take('hosts')
  const host = keys.text('host')
  const port = keys.number('port', [1, 65535]) ?? usualPort
  if (hosts === undefined) return [[host ?? needs(keys.where, 'host'), port]]
  if (!Array.isArray(hosts) || hosts.length === 0)
    throw wrong(`${keys.where}.hosts`, 'is no list of [host, port]')
  return hosts.map((entry: unknown): readonly [string, number] => {
    const [name, number] = (Array.isArray(entry) ? entry : [entry, usualPort]) as unknown[]
    if (typeof name !== 'string' || !Number.isInteger(number)) {
      throw wrong(`${keys.where}.hosts`, 'has an entry that is no [host, port]')
    }
    return [name, number as number]
  })
}

/** The password itself, or where it is: in a file, or in a variable of the environment. */
function readSecret(keys: Keys, environment: NodeJS.ProcessEnv): string {
  const [plain, file, variable] = [
    keys.text('password'),
    keys.text('password_file'),
    keys.text('password_env'),
  ]
  if ([plain, file, variable].filter((one) => one !== undefined).length > 1) {
    throw wrong(keys.where, 'has its password in several places')
  }
  if (variable !== undefined) {
    return environment[variable] ?? needs(keys.where, `the variable ${variable}`)
  }
  return file === undefined
    ? (plain ?? '')
    : readFile(`${keys.where}.password_file`, file).replace(/\r?\n$/, '')
}

function readTls(keys: Keys): LdapServer['tls'] {
  const file = (name: string): string | undefined => {
    const path = keys.text(name)
    return path === undefined ? undefined : readFile(`${keys.where}.${name}`, path)
  }
  const [ca, cert, key] = [file('ca_file'), file('cert'), file('key')]
  const ciphers = keys.text('ciphers')
  const version = keys.text('ssl_version')
  if (version !== undefined && !['TLSv1_2', 'TLSv1_3'].includes(version)) {
    throw wrong(`${keys.where}.ssl_version`, 'is neither TLSv1_2 nor TLSv1_3')
  }
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(ciphers !== undefined && { ciphers }),
    ...(version !== undefined && { minVersion: version === 'TLSv1_3' ? 'TLSv1.3' : 'TLSv1.2' }),
  }
}

function readFile(where: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw wrong(where, `names ${path}, which cannot be read`)
  }
}

function wrong(where: string, what: string): ConfigError {
  return new ConfigError(`LDAP_CONFIG: ${where} ${what}.`)
}

function needs(where: string, what: string): never {
  throw wrong(where, `needs ${what}`)
}

function objectOf(value: unknown, where: string): Raw {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'is no object')
  return value as Raw
}

/** The keys of one object; what nobody asked for is a fault, most likely a slip of the pen. */
class Keys {
  readonly where: string
  readonly #raw: Raw
  readonly #taken = new Set<string>()

  constructor(raw: Raw, where: string) {
    this.#raw = raw
    this.where = where
  }

  take(name: string): unknown {
    this.#taken.add(name)
    return this.#raw[name] ?? undefined
  }

  text(name: string): string | undefined {
    const value = this.take(name)
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' && typeof value !== 'number')
      throw wrong(`${this.where}.${name}`, 'is no text')
    return String(value)
  }

  needed(name: string): string {
    return this.text(name) ?? needs(this.where, name)
  }

  number(name: string, [least, most]: readonly [number, number]): number | undefined {
    const value = this.take(name)
    if (value === undefined) return undefined
    if (typeof value !== 'number' || value < least || value > most) {
      throw wrong(`${this.where}.${name}`, `is no number from ${least} to ${most}`)
    }
    return value
  }

  flag(name: string): boolean | undefined {
    const value = this.take(name)
    if (value !== undefined && typeof value !== 'boolean')
      throw wrong(`${this.where}.${name}`, 'is not true or false')
    return value
  }

  one<const Value extends string>(name: string, values: readonly Value[]): Value {
    const value = this.needed(name)
    return (
      values.find((one) => one === value) ?? needs(`${this.where}.${name}`, `one of ${values.join(', ')}`)
    )
  }

  list(name: string): string[] {
    const value = this.take(name)
    if (value === undefined) return []
    return (Array.isArray(value) ? value : [value]).map(String)
  }

  names(name: string, usual: readonly string[]): readonly string[] {
    const given = this.list(name)
    return given.length === 0 ? usual : given
  }

  dn(name: string): string | undefined {
    const value = this.text(name)
    if (value !== undefined && dnKey(value) === undefined) {
      throw wrong(`${this.where}.${name}`, 'is no distinguished name')
    }
    return value
  }

  filter(name: string): Filter | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const filter = parseFilter(value)
    if (filter === undefined) throw wrong(`${this.where}.${name}`, 'is no filter')
    return filter
  }

  end(): void {
    const unknown = Object.keys(this.#raw).find((name) => !this.#taken.has(name))
    if (unknown !== undefined) throw wrong(this.where, `has the unknown key "${unknown}"`)
  }
}

/** A filter (RFC 4515) as it is sent, in its parts; undefined for a text that is none. The brackets around may be missing. */
export function parseFilter(text: string): Filter | undefined {
  try {
    return FilterParser.parseString(text.startsWith('(') ? text : `(${text})`)
  } catch {
    return undefined
  }
}
