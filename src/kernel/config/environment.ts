import { Resolver } from 'node:dns'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { logLevels } from '../log/logger.ts'
import { plans, type Plan } from './plan.ts'
import { flag, integer, oneOf, optional, text, Unusable, type Variable } from './variable.ts'

/** What one program can do; a node runs some or all of them. */
export const roles = ['web', 'tasks', 'runner'] as const
export type Role = (typeof roles)[number]

function httpUrl(value: string): URL {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Unusable('is not an http or https address')
  return url
}

/** Sites have names below that of the host, which an address in numbers has no room for. */
function siteUrl(value: string): URL {
  const url = httpUrl(value)
  if (isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0)
    throw new Unusable('has an address in place of a name')
  if (url.pathname !== '/' || url.search !== '') throw new Unusable('has a path')
  return url
}

function postgresUrl(value: string): string {
  const url = URL.parse(value)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw new Unusable('is not a postgres:// address')
  return value
}

function smtpUrl(value: string): URL {
  const url = URL.parse(value)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Unusable('is not a smtp:// or smtps:// address')
  return url
}

function sender(value: string): string {
  if (!/^(?:[^<>\r\n]*<[^<>\s@]+@[^<>\s@]+>|[^<>\s@]+@[^<>\s@]+)$/.test(value.trim()))
    throw new Unusable('is neither an e-mail address nor a name with one in angle brackets')
  return value.trim()
}

function token(value: string): string {
  if (value.length < 20) throw new Unusable('is shorter than 20 characters')
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Unusable('has a character that no HTTP header can carry')
  return value
}

function secretKey(value: string): string {
  if (value.length < 32) throw new Unusable('is shorter than 32 characters')
  return value
}

function roleList(value: string): readonly Role[] {
  return value.split(',').map((name) => {
    const role = roles.find((one) => one === name.trim())
    if (role === undefined)
      throw new Unusable(`names an unknown role, "${name}"; there are ${roles.join(', ')}`)
    return role
  })
}

function resolverList(value: string): readonly string[] {
  const servers = value.split(',').map((entry) => entry.trim())
  try {
    new Resolver().setServers(servers)
  } catch {
    throw new Unusable('has an entry that is no address of a name server')
  }
  return servers
}

function addressList(value: string): readonly string[] {
  return value.split(',').map((entry) => {
    const [address = '', bits = '0', ...more] = entry.trim().split('/')
    if (isIP(address) === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits)) {
      throw new Unusable(`has an entry that is no address or range, "${entry}"`)
    }
    return entry.trim()
  })
}

/** `name=folder,name2=folder2` as folders by name. */
function storageList(value: string): Readonly<Record<string, string>> {
  const storages: Record<string, string> = {}
  for (const entry of value.split(',')) {
    const [, name, folder] = /^\s*([a-z0-9_-]{1,50})=(.+?)\s*$/.exec(entry) ?? []
    if (name === undefined || folder === undefined)
      throw new Unusable(`has an entry that is not name=folder, "${entry}"`)
    if (name in storages) throw new Unusable(`names the storage "${name}" twice`)
    storages[name] = path.resolve(folder)
  }
  if (!('default' in storages)) throw new Unusable('has no storage called "default"')
  return storages
}

const importHosts = ['github', 'bitbucket'] as const

/** `github=address,bitbucket=address` as addresses by host, without a slash at the end. */
function hostList(value: string): Readonly<Partial<Record<(typeof importHosts)[number], string>>> {
  const entries = value.split(',').map((entry) => {
    const [, name, address = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(entry) ?? []
    const host = importHosts.find((one) => one === name)
    if (host === undefined) throw new Unusable(`has an entry that is not host=address, "${entry}"`)
    return [host, httpUrl(address).href.replace(/\/+$/, '')] as const
  })
  return Object.fromEntries(entries)
}

/** Every environment variable there is. The documentation (`docs/configuration.md`) is generated from this table. */
export const variables = {
  PORT: integer(8080, [0, 65535], 'Port to listen on; 0 takes a free one.'),
  HOST: text('127.0.0.1', 'Address to listen on; `0.0.0.0` for every network.'),
  SSH_PORT: optional(
    (value) => integer(0, [0, 65535], '').parse(value),
    'Port for git over SSH, on `HOST`; 0 takes a free one. Unset: no SSH.',
  ),
  SSH_EXTERNAL_PORT: optional(
    (value) => integer(22, [1, 65535], '').parse(value),
    'Port under which people reach git over SSH. Unset: `SSH_PORT`.',
  ),
  EXTERNAL_URL: optional(httpUrl, 'Address under which people reach the service. Unset: `http://HOST:PORT`.'),
  DATA_DIR: text(
    './data',
    'Folder of everything the service keeps: database, repositories, artifacts, keys.',
  ),
  REPOSITORY_STORAGES: optional(
    storageList,
    'Folders of repositories by name, as `default=/folder,second=/folder2`. Unset: `default` is `DATA_DIR/repositories`.',
  ),
  DATABASE_URL: optional(
    postgresUrl,
    'PostgreSQL (15 or newer) to use, as `postgres://user:password@host/database`. Unset: the embedded one.',
  ),
  DATABASE_POOL: integer(8, [2, 200], 'Connections to the database for requests.'),
  POSTGRES_BIN: optional(String, 'Folder with the programs of PostgreSQL for the embedded database.'),
  ROOT_TOKEN: optional(
    token,
    'Personal access token of the administrator `root`, 20 characters or more. Unset: one is made at the first start that succeeds, and shown once.',
  ),
  ROOT_PASSWORD: optional(
    String,
    'Password of the administrator `root`, by the rules for passwords; counts while root has none. Unset: one is made and shown with the first token, where `ROOT_TOKEN` is unset, too.',
  ),
  SECRET_KEY: optional(
    secretKey,
    'Key that encrypts secrets in the database, 32 characters or more; all nodes need the same. Unset: one is made and kept in `DATA_DIR/secret-key`.',
  ),
  REGISTRY: flag(true, 'Serve a registry of container images, under `/v2/`.'),
  REGISTRY_URL: optional(
    httpUrl,
    'Address under which clients of containers reach the registry, without a path. Unset: that of the service.',
  ),
  REGISTRY_GRACE: integer(
    24,
    [1, 8760],
    'Hours that images nobody refers to any more are kept, before garbage collection removes them.',
  ),
  REGISTRY_S3_BUCKET: optional(
    String,
    'Bucket of S3, or of a store that speaks like it, for the layers of images and for large files (Git LFS). Unset: `DATA_DIR/registry` and `DATA_DIR/lfs`.',
  ),
  REGISTRY_S3_ENDPOINT: optional(httpUrl, "Address of the store. Unset: Amazon's."),
  REGISTRY_S3_REGION: text('us-east-1', 'Region of the bucket.'),
  REGISTRY_S3_ACCESS_KEY_ID: optional(String, 'Name of the key to the bucket.'),
  REGISTRY_S3_SECRET_ACCESS_KEY: optional(String, 'Secret of the key to the bucket.'),
  PAGES_URL: optional(
    siteUrl,
    'Address below which the sites of projects are served, as `https://pages.example.com`: each has a name of its own below that of the host. Best a domain of its own, whose cookies the service never gets. Unset: no sites.',
  ),
  PAGES_RESOLVERS: optional(
    resolverList,
    "Name servers that are asked whose a domain of a site is, as `192.0.2.1,192.0.2.2:53`. Unset: the machine's.",
  ),
  LDAP_CONFIG: optional(
    String,
    'File (YAML or JSON) that describes the LDAP servers people sign in with; see docs/ldap.md.',
  ),
  OIDC_CONFIG: optional(
    String,
    'File (YAML or JSON) that describes the providers of OpenID Connect people sign in with; see docs/single-sign-on.md.',
  ),
  SMTP_URL: optional(
    smtpUrl,
    'Server that mails are sent through, as `smtp://user:password@host:587` (with STARTTLS, which a password needs but on this machine) or `smtps://host:465`; the same on all nodes. Unset: no mail is sent.',
  ),
  MAIL_FROM: optional(
    sender,
    'Sender of mails, as `Guildhall <git@example.com>`. Unset: `no-reply@` and the host of `EXTERNAL_URL`.',
  ),
  SPAMFILTER_URL: optional(
    httpUrl,
    'Address of the hosted filter for comment spam, up to the name of the call. Unset: `https://rest.akismet.com/1.1`.',
  ),
  CAPTCHA_URL: optional(
    httpUrl,
    'Address of the provider of captchas: its script is there with `.js` at the end, answers are checked at `/siteverify`. Unset: `https://www.google.com/recaptcha/api`.',
  ),
  CHAT_APP_URL: optional(
    httpUrl,
    'Address of the platform of the chat app, up to the name of the call. Unset: `https://slack.com/api`.',
  ),
  IMPORT_HOSTS: optional(
    hostList,
    'Where the public hosts that projects are imported from are reached, where that is through a proxy, as `github=https://one.example.com,bitbucket=https://two.example.com`; see docs/importing.md.',
  ),
  TRACKER_KEYS_URL: optional(
    httpUrl,
    'Address below which the cloud of issue trackers keeps the keys it signs installations of the app with. Unset: `https://connect-install-keys.atlassian.com`.',
  ),
  RUNNER_RELEASES_URL: optional(
    httpUrl,
    'List of the releases of the runner, as the releases API of a project answers it, for example `https://git.example.com/api/v4/projects/1/releases`; it is fetched once a day while `update_runner_versions_enabled` is on, and runners then tell their `upgrade_status`. Unset: none is fetched.',
  ),
  PLAN: oneOf(plans, 'ultimate', 'Which features are on.'),
  ROLES: {
    ...optional(roleList, 'What this program does, separated by commas: `web`, `tasks`, `runner`.'),
    fallback: roles.join(','),
  } satisfies Variable<readonly Role[] | undefined>,
  RUNNER_CONCURRENCY: {
    about: 'Jobs that the built-in runner runs at once.',
    fallback: 'one a processor',
    parse: (value) => integer(availableParallelism(), [1, 256], '').parse(value),
  } satisfies Variable<number>,
  RUNNER_ISOLATION: oneOf(
    ['none', 'bwrap'],
    'none',
    '`bwrap`: jobs of the built-in runner see the machine read-only and nothing of one another, where bwrap is installed and may make namespaces.',
  ),
  RUNNER_URL: optional(
    httpUrl,
    'Address of the instance that `guildhall runner` runs jobs of. Unset: it is given as `--url`.',
  ),
  RUNNER_TOKEN: optional(
    String,
    'Token of that runner, `glrt-…`; other users of the machine cannot read it, as they can `--token`. Unset: it is given as `--token`.',
  ),
  SHUTDOWN_TIMEOUT: integer(30, [1, 3600], 'Seconds that requests and jobs may still take after SIGTERM.'),
  LOG_LEVEL: oneOf(logLevels, 'info', 'How much is logged.'),
  TRUSTED_PROXIES: optional(
    addressList,
    'Addresses and ranges, separated by commas, of the proxies in front of the service: they are believed about whose request they forward.',
  ),
  VENDOR_FIELD_NAMES: flag(
    true,
    'Repeat settings with a neutral name under the name that clients of the vendor know, as `gravatar_enabled`.',
  ),
  METRICS_FROM_ANYWHERE: flag(
    false,
    'Answer `/-/metrics` and the details of health to every address, not loopback only.',
  ),
} satisfies Record<string, Variable<unknown>>

type Values = { readonly [Name in keyof typeof variables]: ReturnType<(typeof variables)[Name]['parse']> }

/** A wrong value, named. It ends the program with one line. */
export class ConfigError extends Error {}

export interface Config {
  readonly port: number
  readonly host: string
  /** Undefined: no git over SSH. */
  readonly sshPort: number | undefined
  readonly sshExternalPort: number | undefined
  /** Undefined: `http://HOST:PORT`, known once the port is bound. */
  readonly externalUrl: URL | undefined
  readonly dataDirectory: string
  /** Folders of repositories by the name of the storage; `default` is among them. */
  readonly storages: Readonly<Record<string, string>>
  readonly databaseUrl: string | undefined
  readonly databasePool: number
  readonly postgresBinaries: string | undefined
  readonly rootToken: string | undefined
  readonly rootPassword: string | undefined
  readonly secretKey: string | undefined
  readonly registry: {
    readonly enabled: boolean
    /** Undefined: where the service is reached. */
    readonly url: URL | undefined
    /** Hours. */
    readonly grace: number
    /** Undefined: layers lie in the data folder. */
    readonly bucket: RegistryBucket | undefined
  }
  /** Undefined: no sites of projects are served. */
  readonly pagesUrl: URL | undefined
  /** Undefined: those of the machine. */
  readonly pagesResolvers: readonly string[] | undefined
  /** Undefined: the usual ones. */
  readonly spamFilterUrl: URL | undefined
  readonly captchaUrl: URL | undefined
  readonly chatAppUrl: URL | undefined
  /** By host, of those that are not reached where everybody reaches them. */
  readonly importHosts: Readonly<Partial<Record<'github' | 'bitbucket', string>>>
  readonly trackerKeysUrl: URL | undefined
  readonly runnerReleasesUrl: URL | undefined
  readonly ldapConfig: string | undefined
  readonly oidcConfig: string | undefined
  readonly mail: {
    /** Undefined: no mail is sent. */
    readonly smtp: URL | undefined
    readonly from: string | undefined
  }
  readonly plan: Plan
  readonly roles: ReadonlySet<Role>
  readonly runnerConcurrency: number
  readonly runnerIsolation: 'none' | 'bwrap'
  /** Of `guildhall runner`. */
  readonly runnerUrl: URL | undefined
  readonly runnerToken: string | undefined
  readonly shutdownTimeout: number
  readonly logLevel: Values['LOG_LEVEL']
  readonly trustedProxies: readonly string[]
  readonly vendorFieldNames: boolean
  readonly metricsFromAnywhere: boolean
}

export interface RegistryBucket {
  readonly bucket: string
  readonly endpoint: string | undefined
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** Reads the environment. An empty variable counts as unset. `calledBy`: how those are called that came otherwise. */
export function readConfig(
  environment: NodeJS.ProcessEnv,
  calledBy: Readonly<Partial<Record<keyof Values, string>>> = {},
): Config {
  const read = <Name extends keyof Values>(name: Name): Values[Name] => {
    const value = environment[name] === '' ? undefined : environment[name]
    try {
      return variables[name].parse(value) as Values[Name]
    } catch (error) {
      // The secrets among them are not repeated.
      const shown = /TOKEN|SECRET|URL|KEY/.test(name) ? 'the value' : `"${value ?? ''}"`
      throw error instanceof Unusable
        ? new ConfigError(`${calledBy[name] ?? name}: ${shown} ${error.message}.`)
        : error
    }
  }
  return {
    port: read('PORT'),
    host: read('HOST'),
    sshPort: readSshPort(read),
    sshExternalPort: read('SSH_EXTERNAL_PORT'),
    externalUrl: read('EXTERNAL_URL'),
    dataDirectory: path.resolve(read('DATA_DIR')),
    storages: read('REPOSITORY_STORAGES') ?? { default: path.resolve(read('DATA_DIR'), 'repositories') },
    databaseUrl: read('DATABASE_URL'),
    databasePool: read('DATABASE_POOL'),
    postgresBinaries: read('POSTGRES_BIN'),
    rootToken: read('ROOT_TOKEN'),
    rootPassword: read('ROOT_PASSWORD'),
    secretKey: read('SECRET_KEY'),
    registry: {
      enabled: read('REGISTRY'),
      url: read('REGISTRY_URL'),
      grace: read('REGISTRY_GRACE'),
      bucket: readBucket(read),
    },
    pagesUrl: readPagesUrl(read),
    pagesResolvers: read('PAGES_RESOLVERS'),
    spamFilterUrl: read('SPAMFILTER_URL'),
    importHosts: read('IMPORT_HOSTS') ?? {},
    captchaUrl: read('CAPTCHA_URL'),
    chatAppUrl: read('CHAT_APP_URL'),
    trackerKeysUrl: read('TRACKER_KEYS_URL'),
    runnerReleasesUrl: read('RUNNER_RELEASES_URL'),
    ldapConfig: read('LDAP_CONFIG'),
    oidcConfig: read('OIDC_CONFIG'),
    mail: { smtp: read('SMTP_URL'), from: read('MAIL_FROM') },
    plan: read('PLAN'),
    roles: new Set(read('ROLES') ?? roles),
    runnerConcurrency: read('RUNNER_CONCURRENCY'),
    runnerIsolation: read('RUNNER_ISOLATION'),
    runnerUrl: read('RUNNER_URL'),
    runnerToken: read('RUNNER_TOKEN'),
    shutdownTimeout: read('SHUTDOWN_TIMEOUT'),
    logLevel: read('LOG_LEVEL'),
    trustedProxies: read('TRUSTED_PROXIES') ?? [],
    vendorFieldNames: read('VENDOR_FIELD_NAMES'),
    metricsFromAnywhere: read('METRICS_FROM_ANYWHERE'),
  }
}

function readSshPort(read: <Name extends keyof Values>(name: Name) => Values[Name]): number | undefined {
  const port = read('SSH_PORT')
  if (port !== undefined && port !== 0 && port === read('PORT'))
    throw new ConfigError('SSH_PORT: it is the same as PORT.')
  return port
}

/** The scripts of a site act as whoever looks at it: none may come from where the service itself is. */
function readPagesUrl(read: <Name extends keyof Values>(name: Name) => Values[Name]): URL | undefined {
  const url = read('PAGES_URL')
  if (url === undefined) return undefined
  for (const name of ['EXTERNAL_URL', 'REGISTRY_URL'] as const) {
    const other = read(name)?.hostname
    if (other === url.hostname || other?.endsWith(`.${url.hostname}`) === true)
      throw new ConfigError(`PAGES_URL: sites would have the address of ${name}.`)
  }
  return url
}

function readBucket(
  read: <Name extends keyof Values>(name: Name) => Values[Name],
): RegistryBucket | undefined {
  const bucket = read('REGISTRY_S3_BUCKET')
  if (bucket === undefined) return undefined
  const needed = (name: 'REGISTRY_S3_ACCESS_KEY_ID' | 'REGISTRY_S3_SECRET_ACCESS_KEY'): string => {
    const value = read(name)
    if (value === undefined) throw new ConfigError(`${name}: the bucket of REGISTRY_S3_BUCKET needs it.`)
    return value
  }
  return {
    bucket,
    endpoint: read('REGISTRY_S3_ENDPOINT')?.href,
    region: read('REGISTRY_S3_REGION'),
    accessKeyId: needed('REGISTRY_S3_ACCESS_KEY_ID'),
    secretAccessKey: needed('REGISTRY_S3_SECRET_ACCESS_KEY'),
  }
}
