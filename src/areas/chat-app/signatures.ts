import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isSameSecret } from '../../kernel/lib/secrets.ts'

/** Seconds that a signed request is good for, so that one that somebody saw cannot be sent again later. */
const window = 300

/** Whether the chat platform signed this request, and did so just now (its signatures of version 0). */
export function isSigned(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string | null,
  now = Date.now(),
): boolean {
  const { 'x-slack-request-timestamp': at, 'x-slack-signature': signature } = headers
  if (!secret || typeof at !== 'string' || typeof signature !== 'string') return false
  if (!/^\d{1,12}$/.test(at) || Math.abs(now / 1000 - Number(at)) > window) return false
  return isSameSecret(signature, signatureOf(at, body, secret))
}

function signatureOf(at: string, body: Buffer, secret: string): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${at}:`).update(body).digest('hex')}`
}
