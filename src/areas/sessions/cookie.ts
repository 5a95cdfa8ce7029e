import { sessionCookie } from '../../access/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { deviceCookie, deviceLife, deviceOf } from './known-devices.ts'
import type { OpenSession } from './sign-in.ts'

interface CookieServices {
  readonly externalUrl: () => string
  readonly cipher: Cipher
}

/** What a browser is to keep; without `seconds` until it is closed, with 0 no longer. */
export function cookieFor(
  { externalUrl }: CookieServices,
  name: string,
  value: string,
  seconds?: number,
): string {
  const secure = externalUrl().startsWith('https:') ? ['Secure'] : []
  const life = seconds === undefined ? [] : [`Max-Age=${seconds}`]
  return [`${name}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Lax', ...secure, ...life].join('; ')
}

/** What a browser brought under a name. */
export function cookieOf(name: string, header: string | undefined): string | undefined {
  return header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}

/** By what a browser says that somebody has signed in with it before. */
export function deviceIn(header: string | undefined): string | undefined {
  return cookieOf(deviceCookie, header)
}

/** The session, and by what the browser is known next time. */
export function cookiesOf(
  services: CookieServices,
  { session, rememberedFor, account }: OpenSession,
): string[] {
  return [
    cookieFor(services, sessionCookie, session, rememberedFor),
    cookieFor(services, deviceCookie, deviceOf(services.cipher, account.id), deviceLife),
  ]
}

/** Has the browser forget the session. */
export function endedCookie(services: CookieServices): string {
  return cookieFor(services, sessionCookie, '', 0)
}
