import type { Page } from '../api.ts'
import { tags } from '../dom.ts'
import { query, withQuery } from '../here.ts'

const { nav, a } = tags

/** Leads to the pages before and after this one; nothing where this is all. */
export function pager({ page, hasNext }: Pick<Page<unknown>, 'page' | 'hasNext'>): HTMLElement | undefined {
  if (page === 1 && !hasNext) return undefined
  return nav(
    { className: 'pager', 'aria-label': 'Pages' },
    page > 1 && a({ rel: 'prev', href: withQuery({ page: page === 2 ? undefined : page - 1 }) }, '← Before'),
    hasNext && a({ rel: 'next', href: withQuery({ page: page + 1 }) }, 'After →'),
  )
}

/** Which page of a list the address asks for. */
export function pageWanted(): number {
  return Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1)
}
