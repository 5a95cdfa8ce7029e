import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { digestToken, type Cipher } from '../../kernel/lib/secrets.ts'
import type { SettingValues } from '../../settings/index.ts'

/** A cache in front of raw files and archives: people are sent there, and it asks here in their name. */
export interface ExternalStorage {
  readonly url: string
  /** By which it shows that it is the cache. */
  readonly token: string
}

export function externalStorage({
  static_objects_external_storage_url: url,
  static_objects_external_storage_auth_token: token,
}: SettingValues): ExternalStorage | undefined {
  return url === null || token === null ? undefined : { url, token }
}

/** Whether it is the cache that asks; an impostor shows another token. */
export function askedBy(
  { token }: ExternalStorage,
  headers: IncomingHttpHeaders,
): 'storage' | 'somebody' | 'impostor' {
  const shown = headers['x-gitlab-external-storage-token']
  if (typeof shown !== 'string' || shown === '') return 'somebody'
  const [expected, given] = [token, shown].map((text) => Buffer.from(digestToken(text)))
  return timingSafeEqual(expected!, given!) ? 'storage' : 'impostor'
}

/** In whose name the cache asks. */
export function tokenShown(
  headers: IncomingHttpHeaders,
  query: Readonly<Record<string, unknown>>,
): string | undefined {
  const shown = [query['token'], headers['x-gitlab-static-object-token']]
  return shown.find((token): token is string => typeof token === 'string' && token !== '')
}

/** What of a query says which bytes are meant; anything else, such as a token, is not handed on. */
const handedOn = ['inline', 'append_sha', 'path']

/** Where the cache has what lies at `path` here. */
export function addressThere(
  { url }: ExternalStorage,
  path: string,
  query: Readonly<Record<string, unknown>>,
  token: string | undefined,
): string {
  const address = new URL(url)
  address.pathname = address.pathname.replace(/\/+$/, '') + path
  address.search = ''
  for (const name of handedOn) {
    const value = query[name]
    if (typeof value === 'string') address.searchParams.set(name, value)
  }
  if (token !== undefined) address.searchParams.set('token', token)
  return address.href
}

/** Milliseconds by which the times of tokens are counted: within one hour they stay the same. */
const hour = 3_600_000
const prefix = 'glso-'
const form = /^glso-[0-9a-f]{32}-(\d{1,15})-(\d{1,9})$/

/**
 * Lets the cache ask for files of one project in the name of a user, for an hour or two: it is shown to the cache, so it
 * opens nothing else, and nothing to who is not the cache.
 */
export function staticObjectToken(
  cipher: Cipher,
  { userId, fullPath }: { readonly userId: number; readonly fullPath: string },
  last = Math.floor(Date.now() / hour) + 1,
): string {
  const proof = cipher.uuid(`static objects of ${fullPath} for user ${userId} until hour ${last}`)
  return `${prefix}${proof.replaceAll('-', '')}-${userId}-${last}`
}

/** Id of the user who was given a token for this project. */
export function userOfToken(cipher: Cipher, token: string, fullPath: string): number | undefined {
  const [, id, last] = form.exec(token) ?? []
  if (id === undefined || last === undefined || Number(last) * hour + hour <= Date.now()) return undefined
  const userId = Number(id)
  const expected = Buffer.from(staticObjectToken(cipher, { userId, fullPath }, Number(last)))
  const shown = Buffer.from(token)
  return shown.length === expected.length && timingSafeEqual(shown, expected) ? userId : undefined
}
