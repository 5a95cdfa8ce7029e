import { compilePattern } from '../../ci/text/regex.ts'
import { OneOf, Optional, Page, Text, type PageInput } from '../../kernel/endpoint/index.ts'
import { invalidParameters, refused } from '../../kernel/errors/index.ts'

/** A part of a name in any letter case; `^` at the start and `$` at the end tie it to that end. */
export function matchesSearch(search: string, name: string): boolean {
  const text = name.toLowerCase()
  const atStart = search.startsWith('^')
  const atEnd = search.endsWith('$') && search.length > (atStart ? 1 : 0)
  const wanted = search.slice(atStart ? 1 : 0, atEnd ? -1 : undefined).toLowerCase()
  if (atStart && atEnd) return text === wanted
  if (atStart) return text.startsWith(wanted)
  return atEnd ? text.endsWith(wanted) : text.includes(wanted)
}

/** What both filters let through. A pattern that is none is refused. */
export function nameFilter(
  search: string | undefined,
  regex: string | undefined,
): ((name: string) => boolean) | undefined {
  const pattern = regex === undefined || regex === '' ? undefined : compilePattern(regex)
  if (pattern === null) throw refused(400, 'Regex is invalid')
  if (search === undefined && pattern === undefined) return undefined
  return (name) => (search === undefined || matchesSearch(search, name)) && (pattern?.test(name) ?? true)
}

/** By the numbers in them as numbers, so that v1.10 comes after v1.9. */
const versions = new Intl.Collator('en', { numeric: true })
export function compareVersions(a: string, b: string): number {
  return versions.compare(a, b) || (a < b ? -1 : 1)
}

/** A list that lies in memory, in its order. */
export interface NamedList<Item> {
  readonly items: readonly Item[]
  readonly nameOf: (item: Item) => string
  /** The order is that of the names, so that a page can go on after a name that is gone. */
  readonly byName?: boolean
}

export interface ListPlace {
  readonly pagination?: string | undefined
  /** The last name of the page before. */
  readonly page_token?: string | undefined
}

/** One page: by number, or with `pagination=keyset` by name. `show` makes rows of the items. */
export async function pageOf<Item>(
  list: NamedList<Item>,
  page: PageInput,
  { pagination, page_token: token }: ListPlace,
  show: (items: readonly Item[]) => Promise<readonly unknown[]>,
): Promise<Page<unknown>> {
  const { items, nameOf } = list
  if (pagination !== 'keyset' && token === undefined) {
    const shown = items.slice(page.offset, page.offset + page.limit)
    return new Page(await show(shown), { total: items.length })
  }
  const from = token === undefined ? 0 : after(list, token)
  const shown = items.slice(from, from + page.limit)
  const last = shown.at(-1)
  const more = last !== undefined && from + shown.length < items.length
  return new Page(await show(shown), { keyset: true, next: more ? { page_token: nameOf(last) } : undefined })
}

function after<Item>({ items, nameOf, byName = false }: NamedList<Item>, token: string): number {
  const index = items.findIndex((item) => nameOf(item) === token)
  if (index >= 0) return index + 1
  if (!byName) throw invalidParameters(['page_token is invalid'])
  const next = items.findIndex((item) => nameOf(item) > token)
  return next === -1 ? items.length : next
}

export const pageTokenParams = {
  pagination: OneOf(['legacy', 'keyset'], { default: 'legacy' }),
  page_token: Optional(Text({ description: 'Keyset pagination: the last name of the page before' })),
}
