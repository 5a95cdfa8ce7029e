import { ApiError, invalidParameters } from '../errors/index.ts'
import { isUnfit } from './json-body.ts'
import { Id, OneOf, Optional, Text } from './types.ts'

export const largestPage = 100
const usualPage = 20
/** Beyond it totals are left out; stores count no further either. */
export const countLimit = 10_000
/** The rows that lists with keyset pagination let a caller skip. */
export const offsetLimit = 50_000

/** To be spread into the parameters of a list. */
export const pageParams = {
  page: Id({ default: 1, description: 'Number of the page, from 1' }),
  per_page: Id({ default: usualPage, except: [0], description: `Items a page, at most ${largestPage}` }),
}

/** Which rows are asked for. */
export interface PageInput {
  page: number
  perPage: number
  limit: number
  offset: number
}

/** No list has so many rows; beyond it the database's numbers end. */
const farthest = 2 ** 31 - 1

/** `per_page` over 100 is 100 and below 0 the usual 20; a page below 1 is the first. */
export function readPage({ page, per_page }: { page: number; per_page: number }): PageInput {
  const number = Math.max(1, page)
  const perPage = per_page < 1 ? usualPage : Math.min(largestPage, per_page)
  return { page: number, perPage, limit: perPage, offset: Math.min(farthest, (number - 1) * perPage) }
}

/** 405 for an offset too deep, on lists that know keyset pagination; `type` as clients know it: `Project`. */
export function refuseDeepOffset({ page, perPage }: PageInput, type: string): void {
  if (page * perPage <= offsetLimit) return
  throw new ApiError(405, {
    error:
      `Offset pagination has a maximum allowed offset of ${offsetLimit} for requests that return objects of type ` +
      `${type}. Remaining records can be retrieved using keyset pagination.`,
  })
}

/** What was found, for the headers. */
export interface PageHeaders extends Pick<PageInput, 'page' | 'perPage'> {
  /** Absolute address of the list, without a query. */
  url: string
  /** Repeated in the links: what was sent, defaults and the path's `id`, never a credential (see `repeatable`). */
  query: Readonly<Record<string, unknown>>
  /** Undefined when it was not counted; more than 10,000 counts as not counted. */
  total?: number | undefined
  /** Whether a page follows; may be left out when the total is known. */
  hasMore?: boolean | undefined
  /** The page has no rows: beyond the first page it is past the end. */
  empty?: boolean | undefined
}

export function pageHeaders(found: PageHeaders): Record<string, string> {
  const { page, perPage, url, query } = found
  const total = found.total === undefined || found.total > countLimit ? undefined : found.total
  const pages = total === undefined ? undefined : Math.max(1, Math.ceil(total / perPage))
  const pastEnd = pages === undefined ? found.empty === true && page > 1 : page > pages
  const hasMore = pages === undefined ? found.hasMore === true && !pastEnd : page < pages
  const next = hasMore ? page + 1 : undefined
  const previous = page > 1 && !pastEnd ? page - 1 : undefined

  const link = pageLinker(url, query, perPage)
  const links = [link('first', 1)]
  if (next !== undefined) links.unshift(link('next', next))
  if (previous !== undefined) links.unshift(link('prev', previous))
  if (pages !== undefined) links.push(link('last', pages))
  return {
    link: links.join(', '),
    'x-next-page': next === undefined ? '' : String(next),
    'x-page': String(page),
    'x-per-page': String(perPage),
    'x-prev-page': previous === undefined ? '' : String(previous),
    ...(total !== undefined && { 'x-total': String(total), 'x-total-pages': String(pages) }),
  }
}

/** To be spread into the parameters of a list that knows keyset pagination, beside `pageParams`. */
export const keysetParams = {
  pagination: OneOf(['legacy', 'keyset'], { default: 'legacy' }),
  id_after: Optional(Id({ description: 'Keyset pagination: only items after this id' })),
  cursor: Optional(Text({ description: 'Keyset pagination: where the next page begins, from the link' })),
}

/** Whether keyset pagination is asked for; 405 when the list cannot do it in the order asked for. */
export function wantsKeyset({ pagination }: { readonly pagination?: unknown }, available: boolean): boolean {
  if (pagination !== 'keyset') return false
  if (available) return true
  throw new ApiError(405, { error: 'Keyset pagination is not yet available for this type of request' })
}

/** Where a neighbouring page begins, as the parameter of its link: `id_after`, `cursor`, `page_token` or `last`. */
export type KeysetPlace = Readonly<Record<string, string | number>>

export interface KeysetHeaders {
  url: string
  query: Readonly<Record<string, unknown>>
  perPage: number
  /** Undefined on the last page. */
  next?: KeysetPlace | undefined
  /** Lists with cursors only. */
  previous?: KeysetPlace | undefined
}

export function keysetHeaders({
  url,
  query,
  perPage,
  next,
  previous,
}: KeysetHeaders): Record<string, string> {
  const { page: _page, id_after: _id, cursor: _cursor, page_token: _token, last: _last, ...rest } = query
  const link = (rel: string, place: KeysetPlace) =>
    `<${url}?${queryText({ ...rest, per_page: perPage, ...place })}>; rel="${rel}"`
  const links: string[] = []
  if (previous !== undefined) links.push(link('prev', previous))
  if (next !== undefined) links.push(link('next', next))
  return {
    ...(links.length > 0 && { link: links.join(', ') }),
    ...(next?.['cursor'] !== undefined && { 'x-next-cursor': String(next['cursor']) }),
    ...(previous?.['cursor'] !== undefined && { 'x-prev-cursor': String(previous['cursor']) }),
  }
}

/** A cursor's text for its values, and back. It is no secret and proves nothing: what it holds is checked as input. */
export function writeCursor(values: Readonly<Record<string, string | number>>): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** Throws `cursor is invalid` for text that is no cursor over exactly these columns. */
export function readCursor<K extends string>(
  text: string,
  columns: readonly K[],
): Record<K, string | number> {
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    throw invalidParameters(['cursor is invalid'])
  }
  const cursor: Partial<Record<K, string | number>> = {}
  for (const column of columns) {
    const value: unknown =
      typeof values === 'object' && values !== null ? Reflect.get(values, column) : undefined
    const fits = typeof value === 'string' ? !isUnfit(value) : Number.isSafeInteger(value)
    if (!fits) throw invalidParameters(['cursor is invalid'])
    cursor[column] = value as string
  }
  return cursor as Record<K, string | number>
}

const secretName = /(?:token|password|secret)$/i

/** What was sent, without what may be a secret. */
export function repeatable(sent: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !secretName.test(name)))
}

/** Makes the links of one list: all but the page is written once. */
function pageLinker(url: string, query: Readonly<Record<string, unknown>>, perPage: number) {
  const entries = Object.entries({ ...query, per_page: perPage })
  const before = queryText(Object.fromEntries(entries.filter(([key]) => key < 'page')))
  const after = queryText(Object.fromEntries(entries.filter(([key]) => key > 'page')))
  const start = `<${url}?${before === '' ? '' : `${before}&`}page=`
  return (rel: string, page: number) => `${start}${page}&${after}>; rel="${rel}"`
}

/** A query string in bracket notation, sorted by name: `id=7&scope%5B%5D=failed`. Undefined values are left out. */
export function queryText(params: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = []
  for (const key of Object.keys(params).sort()) collect(encodeURIComponent(key), params[key], pairs)
  return pairs.join('&')
}

function collect(name: string, value: unknown, pairs: string[]): void {
  if (value === undefined) return
  if (Array.isArray(value)) {
    for (const element of value) collect(`${name}%5B%5D`, element, pairs)
  } else if (value instanceof Date) {
    pairs.push(`${name}=${encodeURIComponent(value.toISOString())}`)
  } else if (typeof value === 'object' && value !== null) {
    const hash = value as Record<string, unknown>
    for (const key of Object.keys(hash).sort())
      collect(`${name}%5B${encodeURIComponent(key)}%5D`, hash[key], pairs)
  } else {
    pairs.push(`${name}=${value === null ? '' : encodeURIComponent(value as string)}`)
  }
}
