const schemes = { http: 80, https: 443, ssh: 22, git: 9418 } as const
export type Scheme = keyof typeof schemes
export const anyScheme = Object.keys(schemes) as Scheme[]
/** Those that need no key. */
export const keylessSchemes = ['http', 'https', 'git'] as const
export type KeylessScheme = (typeof keylessSchemes)[number]

/** Where a repository elsewhere is, and as whom it is reached. */
export interface Address<Known extends Scheme = Scheme> {
  readonly scheme: Known
  /** A name or an address, an IPv6 one between brackets. */
  readonly host: string
  readonly port: number
  /** As it stands in the address, decoded for SSH. */
  readonly path: string
  readonly user: string | undefined
  readonly password: string | undefined
}

const longest = 2048
/** A name is no option, whoever reads it. */
const hostForm = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|\[[0-9a-fA-F:.]+\])$/

/** Takes an address of one of these schemes apart, or says what is wrong with it. */
export function readAddress<Known extends Scheme>(
  text: string,
  known: readonly Known[],
): Address<Known> | { readonly fault: string } {
  const url = text.length > longest || /[\u0000-\u0020\u007f]/.test(text) ? null : URL.parse(text) // eslint-disable-line no-control-regex
  if (url === null) return { fault: 'URI is invalid' }
  const scheme = known.find((one) => `${one}:` === url.protocol)
  if (scheme === undefined) return { fault: `Only allowed schemes are ${known.join(', ')}` }
  const port = url.port === '' ? schemes[scheme] : Number(url.port)
  if (port < 1024 && ![22, 80, 443].includes(port)) {
    return { fault: 'Only allowed ports are 22, 80, 443, and any over 1024' }
  }
  if (!hostForm.test(url.hostname)) return { fault: 'Hostname or IP address invalid' }
  const [user, password, path] = [url.username, url.password, url.pathname].map(decoded)
  if (user === undefined || password === undefined || path === undefined) return { fault: 'URI is invalid' }
  if (user !== '' && !/^[\p{L}\p{N}]/u.test(user)) {
    return { fault: 'Username needs to start with an alphanumeric character' }
  }
  if (/^\/*$/.test(path)) return { fault: 'URI is invalid' }
  return {
    scheme,
    host: url.hostname,
    port,
    path: scheme === 'http' || scheme === 'https' ? url.pathname.replace(/\/+$/, '') : path,
    user: user === '' ? undefined : user,
    password: password === '' ? undefined : password,
  }
}

/** Undefined: it is no text, or has signs in it that no address needs. */
function decoded(part: string): string | undefined {
  try {
    const text = decodeURIComponent(part)
    return /[\u0000-\u001f\u007f]/.test(text) ? undefined : text // eslint-disable-line no-control-regex
  } catch {
    return undefined
  }
}

/** The address as it is shown. A name may be a token, too, but for the one that everybody has. */
export function shownAddress(text: string): string {
  const url = new URL(text)
  if (url.password !== '') url.password = '*****'
  if (url.username !== '' && url.username !== 'git') url.username = '*****'
  return url.href
}

/** The address that is asked over HTTP: without the login. */
export function webAddress({ scheme, host, port, path }: Address): string {
  return `${scheme}://${host}:${port}${path}`
}

/** The login, as it is sent beside that address. */
export function loginOf({ user, password }: Address): Record<string, string> {
  if (user === undefined && password === undefined) return {}
  return { authorization: `Basic ${Buffer.from(`${user ?? ''}:${password ?? ''}`).toString('base64')}` }
}

/** Takes the secrets of an address out of what somebody says who was told them. */
export function withoutSecrets(text: string, { user, password }: Address): string {
  const secrets = [password, user === 'git' ? undefined : user].filter((one) => one !== undefined)
  const written = secrets.flatMap((one) => [one, encodeURIComponent(one)])
  return written.reduce((left, secret) => left.replaceAll(secret, '*****'), text)
}
