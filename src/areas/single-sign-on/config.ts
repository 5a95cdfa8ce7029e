import { readFileSync } from 'node:fs'
import { parse, YAMLParseError } from 'yaml'
import { ConfigError } from '../../kernel/config/index.ts'

/** A provider of OpenID Connect, as the file of `OIDC_CONFIG` describes it. */
export interface ProviderConfig {
  /** As addresses, identities and `disabled_oauth_sign_in_sources` name it. */
  readonly name: string
  readonly label: string
  readonly issuer: URL
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  /** An account with the same address is the same person's. */
  readonly linkByEmail: boolean
  /** Who has no account gets one. */
  readonly createUsers: boolean
  /** ...and waits until an administrator approves of it. */
  readonly blockAutoCreatedUsers: boolean
  /** Addresses of which the provider does not say whether it has verified them are verified. */
  readonly trustEmail: boolean
}

const keys = new Set([
  'name',
  'label',
  'issuer',
  'client_id',
  'client_secret',
  'client_secret_env',
  'scopes',
  'link_by_email',
  'create_users',
  'block_auto_created_users',
  'trust_email',
])

/** Reads the file; every fault ends the start with one line. `docs/single-sign-on.md` tells of each key. */
export function readSingleSignOn(
  file: string | undefined,
  environment: NodeJS.ProcessEnv,
): readonly ProviderConfig[] {
  if (file === undefined) return []
  const { providers, ...more } = objectOf(readYaml(file), 'the file')
  if (!Array.isArray(providers)) throw wrong('the file', 'has no list called "providers"')
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) throw wrong('the file', `has the unknown key "${unknown}"`)
  const read = providers.map((provider, at) => readProvider(provider, `provider ${at + 1}`, environment))
  const twice = read.find(({ name }, at) => read.findIndex((other) => other.name === name) !== at)
  if (twice !== undefined) throw wrong('the file', `names the provider "${twice.name}" twice`)
  return read
}

function readYaml(file: string): unknown {
  try {
    // YAML reads JSON too.
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof YAMLParseError) throw wrong(file, 'is no YAML')
    throw wrong(file, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`)
  }
}

function readProvider(given: unknown, where: string, environment: NodeJS.ProcessEnv): ProviderConfig {
  const raw = objectOf(given, where)
  const unknown = Object.keys(raw).find((key) => !keys.has(key))
  if (unknown !== undefined) throw wrong(where, `has the unknown key "${unknown}"`)
  const text = (key: string): string => {
    const value = raw[key]
    if (typeof value !== 'string' || value === '') throw wrong(where, `needs a text for "${key}"`)
    return value
  }
  const flag = (key: string, usual: boolean): boolean => {
    const value = raw[key] ?? usual
    if (typeof value !== 'boolean') throw wrong(where, `needs true or false for "${key}"`)
    return value
  }
  const name = text('name')
  // Those of directories and of groups' own sign-in are kept apart.
  if (!/^[a-z][a-z0-9_]{0,49}$/.test(name) || /^(ldap|saml|group_saml)/.test(name)) {
    throw wrong(where, 'has a name that is not of small letters, digits and "_", or is another kind\'s')
  }
  const issuer = URL.parse(text('issuer'))
  if (issuer === null || !/^https?:$/.test(issuer.protocol))
    throw wrong(where, 'has an issuer that is no URL')
  const scopes = raw['scopes'] ?? ['openid', 'profile', 'email']
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) {
    throw wrong(where, 'needs a list of texts for "scopes"')
  }
  return {
    name,
    label: raw['label'] === undefined ? name : text('label'),
    issuer,
    clientId: text('client_id'),
    clientSecret: secretOf(raw, where, environment) ?? text('client_secret'),
    scopes: [...new Set(['openid', ...scopes])],
    linkByEmail: flag('link_by_email', false),
    createUsers: flag('create_users', true),
    blockAutoCreatedUsers: flag('block_auto_created_users', true),
    trustEmail: flag('trust_email', false),
  }
}

function secretOf(
  { client_secret_env: name }: Readonly<Record<string, unknown>>,
  where: string,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  if (name === undefined) return undefined
  const secret = typeof name === 'string' ? environment[name] : undefined
  if (secret === undefined || secret === '')
    throw wrong(where, 'names a secret that the environment does not have')
  return secret
}

function objectOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(where, 'is no set of keys')
  return value as Readonly<Record<string, unknown>>
}

function wrong(where: string, problem: string): ConfigError {
  return new ConfigError(`OIDC_CONFIG: ${where} ${problem}.`)
}
