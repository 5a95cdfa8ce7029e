import { randomUUID } from 'node:crypto'
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  exportSPKI,
  generateKeyPair,
  importSPKI,
  jwtVerify,
  SignJWT,
  type JWTPayload,
} from 'jose'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Settings } from '../../settings/index.ts'
import { contextQsh, queryStringHash } from './qsh.ts'
import * as store from './store.ts'

export interface TokenServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly outbound: Outbound
  readonly externalUrl: () => string
  /** Where the tracker's cloud keeps the keys it signs installations with; undefined: the usual place. */
  readonly trackerKeysUrl: URL | undefined
}

export const appPath = '/-/jira_connect'
export const secretContext = 'tracker_installations.shared_secret'
const usualKeys = 'https://connect-install-keys.atlassian.com'
/** Seconds that clocks may differ. */
const clockTolerance = 60
/** Seconds. */
const life = { request: 60, event: 300 } as const

/** A request as tokens are about it: method, path below the app, query. */
export interface About {
  readonly method: string
  readonly path: string
  readonly query?: URLSearchParams
}

const qshOf = ({ method, path, query }: About): string => queryStringHash(method, path, query)

/** By which the tracker knows the app. */
export function appKey({ externalUrl }: Pick<TokenServices, 'externalUrl'>): string {
  return `gitlab-jira-connect-${new URL(externalUrl()).hostname}`
}

/**
 * Whether the tracker's cloud, or the instance that stands for it, says by this token that what comes with it is of
 * the client. The key is fetched by the name that the token gives it.
 */
export async function isOfCloud(
  services: TokenServices,
  token: string,
  clientKey: string,
  about: About,
): Promise<boolean> {
  const { settings, outbound, externalUrl } = services
  try {
    const { kid, alg } = decodeProtectedHeader(token)
    if (alg !== 'RS256' || kid === undefined || !/^[\w-]{1,100}$/.test(kid)) return false
    const got = await outbound.getText(`${keysUrl(services)}/${kid}`, {
      maximumBytes: 10_000,
      timeout: 10_000,
    })
    if (!('status' in got) || got.status !== 200) return false
    const audience = [externalUrl(), settings.values.tracker_connect_additional_audience_url ?? '']
      .filter((url) => url !== '')
      .map((url) => url.replace(/\/+$/, '') + appPath)
    const { payload } = await jwtVerify(token, await importSPKI(got.text.trim(), 'RS256'), {
      algorithms: ['RS256'],
      issuer: clientKey,
      audience,
      clockTolerance,
      requiredClaims: ['exp', 'qsh'],
    })
    return payload['qsh'] === qshOf(about)
  } catch {
    return false
  }
}

function keysUrl({ settings, trackerKeysUrl }: TokenServices): string {
  const { tracker_connect_proxy_url: proxy } = settings.values
  if (proxy) return `${proxy.replace(/\/+$/, '')}${appPath}/public_keys`
  return trackerKeysUrl?.href.replace(/\/+$/, '') ?? usualKeys
}

/** The installation whose secret a token is signed with, and who of the tracker it stands for. */
export interface OfTracker {
  readonly installation: store.Installation
  /** The account at the tracker. */
  readonly accountId: string | undefined
}

/** Undefined for a token that is no good. `about`: what it must be for, unless it stands for a person. */
export async function readTracker(
  { db, cipher }: Pick<TokenServices, 'db' | 'cipher'>,
  token: string,
  about?: About,
): Promise<OfTracker | undefined> {
  try {
    // It may say anything yet.
    const { iss } = decodeJwt(token) as { readonly iss?: unknown }
    const found =
      typeof iss !== 'string' || iss.includes('\0') ? undefined : await store.installation(db.reader, iss)
    if (found === undefined) return undefined
    const secret = new TextEncoder().encode(cipher.open(found.shared_secret, secretContext))
    const { payload } = await jwtVerify(token, secret, {
      algorithms: ['HS256'],
      clockTolerance,
      requiredClaims: ['exp', 'qsh'],
    })
    const good = payload['qsh'] === contextQsh || (about !== undefined && payload['qsh'] === qshOf(about))
    return good
      ? { installation: found, accountId: typeof payload.sub === 'string' ? payload.sub : undefined }
      : undefined
  } catch (error) {
    // What is no token, or one of somebody else; the database's own failures go on.
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

/** A token for one request to a tracker. */
export function signForTracker(
  { cipher, externalUrl }: Pick<TokenServices, 'cipher' | 'externalUrl'>,
  { shared_secret }: store.Installation,
  about: About,
): Promise<string> {
  const secret = new TextEncoder().encode(cipher.open(shared_secret, secretContext))
  return claims({ qsh: qshOf(about) }, life.request)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(appKey({ externalUrl }))
    .sign(secret)
}

/** A token for an event that is passed on to another instance, with a key of its own that the other fetches here. */
export async function signForInstance(
  { db }: Pick<TokenServices, 'db'>,
  { client_key: clientKey, instance_url: instance }: store.Installation,
  about: About,
): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const id = randomUUID()
  await store.keepPublicKey(db.writer, { id, pem: await exportSPKI(publicKey), seconds: life.event })
  return claims({ qsh: qshOf(about) }, life.event)
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: id })
    .setIssuer(clientKey)
    .setAudience(instance!.replace(/\/+$/, '') + appPath)
    .sign(privateKey)
}

function claims(payload: JWTPayload, seconds: number): SignJWT {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT(payload).setIssuedAt(now).setExpirationTime(now + seconds)
}
