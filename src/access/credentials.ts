import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { invalidParameters } from '../kernel/errors/index.ts'
import { digestToken } from '../kernel/lib/secrets.ts'
import type { SettingValues } from '../settings/index.ts'

/** What a request shows of itself before anything is looked up. Only digests go further than this file. */
export interface Credentials {
  /** `user`: who he is was shown elsewhere; the digest is his id. */
  readonly kind: 'none' | 'token' | 'job' | 'session' | 'deploy' | 'user'
  readonly digest: string | undefined
  /** By its form the token may be one that somebody granted an application. */
  readonly mayBeGranted?: boolean
  /** Id or name of the user to act as. */
  readonly sudo: string | undefined
  /** Administrators are so only with a token of the scope `admin_mode`. */
  readonly adminMode?: boolean
  /** Sessions that are to be remembered are. */
  readonly remembers?: boolean
  /** Sent by one of our pages, which know the CSRF token of the session. */
  readonly fromPage?: boolean
}

export const noCredentials: Credentials = { kind: 'none', digest: undefined, sudo: undefined }

/** As tokens of applications look; so may others, since some are chosen from outside. */
const grantedForm = /^[0-9a-f]{64}$/

/** What is looked up for a token that stands for a user. */
export function tokenCredentials(token: string, sudo?: string): Credentials {
  const digest = digestToken(token)
  return { kind: 'token', digest, sudo, ...(grantedForm.test(token) && { mayBeGranted: true }) }
}

type Bag = Readonly<Record<string, unknown>>

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function bearer(headers: IncomingHttpHeaders): string | undefined {
  const match = /^bearer +(\S+)$/i.exec(headers.authorization ?? '')
  return match?.[1]
}

/** Job tokens are told apart by their prefix, as the first family that is present decides (conventions, 1.9). */
export const jobTokenPrefix = 'glcbt-'

/** What an endpoint takes besides what all of them take. */
export interface Taken {
  readonly basic?: boolean | undefined
  readonly deployToken?: boolean | undefined
  readonly jobToken?: boolean | undefined
}

export function readCredentials(
  headers: IncomingHttpHeaders,
  bag: Bag,
  method: string,
  { basic, deployToken, jobToken }: Taken = {},
): Credentials {
  const deploy = deployToken === true ? text(headers['deploy-token']) : undefined
  if (deploy !== undefined) return { kind: 'deploy', digest: digestToken(deploy), sudo: undefined }
  const sudo = sudoIn(bag) ?? text(headers['sudo'])
  const carried = bearer(headers)
  if (carried?.startsWith(jobTokenPrefix) === true) return { kind: 'job', digest: digestToken(carried), sudo }
  const token =
    text(bag['private_token']) ?? text(headers['private-token']) ?? text(bag['access_token']) ?? carried
  if (token !== undefined) return tokenCredentials(token, sudo)
  const job =
    text(headers['job-token']) ?? text(bag['job_token']) ?? (jobToken === true ? ofRunner(bag) : undefined)
  if (job !== undefined) return { kind: 'job', digest: digestToken(job), sudo }
  const login = basic === true ? basicLogin(headers) : undefined
  if (login !== undefined) {
    const digest = digestToken(login.password)
    if (isJobLogin(login)) return { kind: 'job', digest, sudo }
    const ofDeploy = deployToken === true && login.password.startsWith(deployTokenPrefix)
    return ofDeploy ? { kind: 'deploy', digest, sudo: undefined } : tokenCredentials(login.password, sudo)
  }
  const session = sessionOf(headers)
  if (session !== undefined) {
    const fromPage = carriesCsrfToken(headers, session)
    if (fromPage || method === 'GET' || method === 'HEAD') {
      return { kind: 'session', digest: digestToken(session), sudo, fromPage }
    }
  }
  return { ...noCredentials, sudo }
}

/** Runners give the token of their job under this name (completions, 8.4), which may be another parameter elsewhere. */
function ofRunner({ token }: Bag): string | undefined {
  const given = text(token)
  return given?.startsWith(jobTokenPrefix) === true ? given : undefined
}

/** Whoever means to act in another's name is not to act in his own. */
function sudoIn({ sudo }: Bag): string | undefined {
  if (typeof sudo === 'object' && sudo !== null) throw invalidParameters(['sudo is invalid'])
  return text(typeof sudo === 'number' ? String(sudo) : sudo)
}

/** The name under which a job token is given where only a password can be. */
export const jobLogin = 'gitlab-ci-token'
export const deployTokenPrefix = 'gldt-'

/** Any other token counts under that name, too: release tools give theirs under it. */
export function isJobLogin({ username, password }: { username: string; password: string }): boolean {
  return username === jobLogin && password.startsWith(jobTokenPrefix)
}

/** Name and password of HTTP Basic; undefined for anything else. */
function basicLogin({
  authorization,
}: IncomingHttpHeaders): { username: string; password: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) return undefined
  const [, username, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return username === undefined || password === undefined || password === ''
    ? undefined
    : { username, password }
}

/** What a request for a page shows: the session of a browser, or a token in a header. */
export function pageCredentials(
  headers: IncomingHttpHeaders,
  { remember_me_enabled, admin_mode }: Pick<SettingValues, 'remember_me_enabled' | 'admin_mode'>,
): Credentials {
  const found = readCredentials(headers, {}, 'GET')
  return { ...found, sudo: undefined, remembers: remember_me_enabled, adminMode: admin_mode }
}

/** The cookie of browsers that are signed in. */
export const sessionCookie = '_gitlab_session'

export function sessionOf({ cookie = '' }: IncomingHttpHeaders): string | undefined {
  for (const pair of cookie.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === sessionCookie && value !== undefined && /^[\w-]{20,100}$/.test(value)) return value
  }
  return undefined
}

/** What calls of a page that write must carry besides the cookie, which browsers also send for pages of others. */
export function csrfTokenOf(session: string): string {
  return digestToken(`csrf ${session}`)
}

function carriesCsrfToken(headers: IncomingHttpHeaders, session: string): boolean {
  const sent = Buffer.from(text(headers['x-csrf-token']) ?? '')
  const expected = Buffer.from(csrfTokenOf(session))
  return sent.length === expected.length && timingSafeEqual(sent, expected)
}

/** The token of a runner or of its job, on the runner's own endpoints. */
export function machineSecret(
  subject: 'runner' | 'job',
  headers: IncomingHttpHeaders,
  bag: Bag,
): string | undefined {
  const header = subject === 'runner' ? headers['runner-token'] : headers['job-token']
  const token = text(bag['token']) ?? text(header)
  return token === undefined ? undefined : digestToken(token)
}
