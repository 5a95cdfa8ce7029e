import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { noCredentials, readsSite, sessionOf, type Credentials } from '../../access/index.ts'
import { Answer } from '../../kernel/endpoint/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { cookieOf } from '../sessions/index.ts'
import { missingAnswer, sentOn } from './answer.ts'
import { findSite } from './find-site.ts'
import type { SiteServices } from './index.ts'

/*
 * How somebody who is signed in to the service is known on the host of a site, which never gets the cookie of the
 * service: the site sends him to the service, which sends him back with a pass for this host and this browser, and the
 * site makes a cookie of its own of it. That stands for the session, and ends with it.
 */

/** On the host of the service. */
export const entrancePath = '/-/sites/enter'
/** On the hosts of sites. */
export const passPath = '/-/enter'

const visitCookie = 'guildhall_site'
const stateCookie = 'guildhall_site_state'
const visitContext = 'sites.visit'
const passContext = 'sites.pass'

/** Milliseconds. */
const passLife = 60_000
const visitLife = 24 * 3600_000

interface Visit {
  /** Digest of the session. */
  readonly session: string
  readonly host: string
  readonly until: number
}

interface Pass extends Visit {
  readonly path: string
  readonly state: string
}

type Query = Readonly<Record<string, unknown>>

/** Who looks at a site, by the cookie of its host. */
export function visitorOf(
  services: SiteServices,
  host: string,
  { cookie }: IncomingHttpHeaders,
): Credentials {
  const visit = opened<Visit>(services, cookieOf(visitCookie, cookie), visitContext, host)
  return visit === undefined ? noCredentials : bySession(services, visit.session)
}

function bySession({ settings }: SiteServices, digest: string): Credentials {
  const { remember_me_enabled: remembers, admin_mode: adminMode } = settings.values
  return { kind: 'session', digest, sudo: undefined, remembers, adminMode }
}

function opened<T extends Visit>(
  { cipher }: SiteServices,
  sealed: string | undefined,
  context: string,
  host: string,
): T | undefined {
  const text = sealed === undefined ? undefined : cipher.tryOpen(sealed, context)
  const found = text === undefined ? undefined : (JSON.parse(text) as T)
  return found !== undefined && found.host === host && found.until > Date.now() ? found : undefined
}

/** To the service, to be let in. */
export function sendToEntrance({ externalUrl, sites }: SiteServices, host: string, path: string): Answer {
  const state = randomBytes(24).toString('base64url')
  const query = new URLSearchParams({ host, path, state })
  return sentOn(
    `${externalUrl()}${entrancePath}?${query.toString()}`,
    cookie(stateCookie, state, { path: passPath, secure: sites.isSecure, seconds: 600 }),
  )
}

/** On the service: sends whoever may see the site back with a pass, and whoever is not signed in to the sign-in. */
export async function entrance(
  services: SiteServices,
  { headers, ip, url }: { readonly headers: IncomingHttpHeaders; readonly ip: string; readonly url: string },
  { host, path, state }: Query,
): Promise<Answer> {
  const { cipher, externalUrl, sites } = services
  const session = sessionOf(headers)
  if (typeof host !== 'string' || typeof path !== 'string' || typeof state !== 'string')
    return missingAnswer()
  if (!/^[a-z0-9._-]{1,255}$/.test(host) || !/^[\w-]{32}$/.test(state) || !isOwnPath(path))
    return missingAnswer()
  const site = sites.siteOf(host)
  // Hosts that several sites share serve none that ask who somebody is.
  if (site === undefined || site.kind === 'namespace') return missingAnswer()
  const signIn = sentOn(`${externalUrl()}/users/sign_in?return_to=${encodeURIComponent(url)}`)
  if (session === undefined) return signIn
  const digest = digestToken(session)
  const found = await findSite(services, bySession(services, digest), site, '', ip)
  if (found === undefined) return missingAnswer()
  if (found.actor.user === null) return signIn
  if (!readsSite(found.actor, found.project)) return missingAnswer()
  const pass: Pass = { session: digest, host, path, state, until: Date.now() + passLife }
  const sealed = cipher.seal(JSON.stringify(pass), passContext)
  return sentOn(`${sites.origin(host)}${passPath}?pass=${encodeURIComponent(sealed)}`)
}

/** On the site: takes the pass for a cookie. Only in the browser that asked for it, so that nobody is let in as another. */
export function takePass(
  services: SiteServices,
  host: string,
  { cookie: brought }: IncomingHttpHeaders,
  query: URLSearchParams,
): Answer {
  const { cipher, sites } = services
  const pass = opened<Pass>(services, query.get('pass') ?? undefined, passContext, host)
  if (pass === undefined || cookieOf(stateCookie, brought) !== pass.state) return missingAnswer()
  const visit: Visit = { session: pass.session, host, until: Date.now() + visitLife }
  return sentOn(
    `${sites.origin(host)}${pass.path}`,
    cookie(visitCookie, cipher.seal(JSON.stringify(visit), visitContext), {
      path: '/',
      secure: sites.isSecure,
      seconds: visitLife / 1000,
    }),
  )
}

/** A path on the same host, and nothing that a browser takes for another. */
function isOwnPath(path: string): boolean {
  return /^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(path)
}

function cookie(
  name: string,
  value: string,
  { path, secure, seconds }: { readonly path: string; readonly secure: boolean; readonly seconds: number },
): string {
  const parts = [`${name}=${value}`, `Path=${path}`, 'HttpOnly', 'SameSite=Lax', `Max-Age=${seconds}`]
  return [...parts, ...(secure ? ['Secure'] : [])].join('; ')
}
