import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../kernel/lib/secrets.ts'
import { fieldsOf } from '../../kernel/lib/small-body.ts'

/** By which the provider shows that it was he who sent something, and when. */
export interface Signature {
  readonly timestamp: string
  /** Another one each time. */
  readonly token: string
  readonly signature: string
}

/** Seconds that a provider tries again for, and some. */
export const window = 12 * 3600

/** Of what was sent, where it has one. */
export function signatureIn(sent: unknown): Signature | undefined {
  const { timestamp, token, signature } = fieldsOf(fieldsOf(sent)['signature'])
  const at = typeof timestamp === 'number' ? String(timestamp) : timestamp
  if (typeof at !== 'string' || !/^\d{1,12}$/.test(at)) return undefined
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(token)) return undefined
  return typeof signature === 'string' ? { timestamp: at, token, signature } : undefined
}

export function isGenuine({ timestamp, token, signature }: Signature, key: string | null): boolean {
  if (!key) return false
  return isSameSecret(
    signature,
    createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex'),
  )
}

export function isOfNow({ timestamp }: Signature, now = Date.now()): boolean {
  return Math.abs(now / 1000 - Number(timestamp)) <= window
}
