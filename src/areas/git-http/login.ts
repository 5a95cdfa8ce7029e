import type { Login } from '../../access/index.ts'

/**
 * The name and the password of the header `Authorization`. Undefined without one; `unreadable` for another scheme or a
 * text that is no login.
 */
export function readLogin(authorization: string | undefined): Login | 'unreadable' | undefined {
  if (authorization === undefined) return undefined
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return 'unreadable'
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  // A database knows no NUL in a text.
  if (colon < 0 || text.includes('\0')) return 'unreadable'
  return { username: text.slice(0, colon), password: text.slice(colon + 1) }
}
