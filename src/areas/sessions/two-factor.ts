import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { digestToken } from '../../kernel/lib/secrets.ts'

/** The place a secret is sealed for. */
export const secretContext = 'users.otp_secret'

const issuer = 'Guildhall'
const seconds = 30
/** Steps that a clock may be off, to each side. */
const window = 1
const recoveryCodes = 10

/** A new secret, in base32, as authenticators take it. */
export function newSecret(): string {
  return new Secret({ size: 20 }).base32
}

function authenticator(secret: string, username: string): TOTP {
  return new TOTP({ issuer, label: username, secret: Secret.fromBase32(secret), period: seconds })
}

/** What authenticators read as a picture. */
export function addressOf(secret: string, username: string): string {
  return authenticator(secret, username).toString()
}

/** The step of time that a code is right for, which must be later than the last one; undefined for a wrong code. */
export function stepOf(
  code: string,
  { secret, lastStep, now }: { secret: string; lastStep: number | null; now: Date },
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const delta = authenticator(secret, '').validate({ token: code, window, timestamp: now.getTime() })
  if (delta === null) return undefined
  const step = Math.floor(now.getTime() / 1000 / seconds) + delta
  return lastStep !== null && step <= lastStep ? undefined : step
}

/** Codes that each work once, for who has lost the authenticator. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes }, () => randomBytes(8).toString('hex'))
}

export function digestOfRecoveryCode(code: string): string {
  return digestToken(code.trim().toLowerCase())
}
