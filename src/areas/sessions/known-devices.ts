import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Tx } from '../../kernel/db/index.ts'
import { letter, type Mailer } from '../../mail/index.ts'
import * as store from './store.ts'
import type { Account } from './store.ts'

/** The cookie by which a browser is known to which somebody has signed in before. */
export const deviceCookie = 'known_sign_in'
/** Seconds that a browser is known. */
export const deviceLife = 14 * 24 * 3600
const context = 'cookies.known_sign_in'

export function deviceOf(cipher: Cipher, userId: number): string {
  return cipher.seal(JSON.stringify({ userId, until: Date.now() + deviceLife * 1000 }), context)
}

function isKnownDevice(cipher: Cipher, cookie: string | undefined, userId: number): boolean {
  const opened = cookie === undefined ? undefined : cipher.tryOpen(cookie, context)
  if (opened === undefined) return false
  const known = JSON.parse(opened) as { userId: number; until: number }
  return known.userId === userId && known.until > Date.now()
}

export interface SignInPlace {
  readonly ip: string
  readonly userAgent: string | undefined
  /** What the browser brought as `deviceCookie`. */
  readonly device: string | undefined
}

/** Tells somebody that his account was signed in to from a browser and an address of which neither is known. */
export async function warnOfUnknown(
  { cipher, mail, externalUrl }: { cipher: Cipher; mail: Mailer; externalUrl: () => string },
  tx: Tx,
  account: Account,
  { ip, userAgent, device }: SignInPlace,
  session: string,
): Promise<void> {
  if (isKnownDevice(cipher, device, account.id) || (await store.knowsAddress(tx, account.id, ip))) return
  await mail.queue(tx, {
    key: `unknown-sign-in:${session}`,
    to: { name: account.name, address: account.email, userId: account.id },
    subject: 'Your account was signed in to from a new place',
    text: letter({
      paragraphs: [
        `Hello ${account.name},`,
        `Somebody signed in to your account ${account.username} at ${new Date().toISOString()} from the address ${ip}${userAgent === undefined ? '' : ` with ${userAgent.slice(0, 255)}`}.`,
        'If that was you, there is nothing to do. If it was not, change your password, and end the sessions that you do not know.',
      ],
      link: externalUrl(),
    }),
  })
}
