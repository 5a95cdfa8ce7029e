import { GraphQLError } from 'graphql'

/** Which part of a list is asked for. */
export interface PageArguments {
  readonly first?: number | null
  readonly after?: string | null
}

/** A part of a list as the API pages it: the page of this number where pages have this size. */
export interface PageOfList {
  readonly page: number
  readonly perPage: number
}

/** A page is a hundred, unless less is asked for. */
const largest = 100

/**
 * A cursor is how many rows come before what follows it. Pages that do not begin at a multiple of the size that is asked
 * for are made smaller until they do.
 */
export function pageOfList({ first, after }: PageArguments): PageOfList {
  if (first != null && first < 1) throw new GraphQLError('`first` has to be 1 at least')
  const offset = readCursor(after)
  let perPage = Math.min(first ?? largest, largest)
  while (offset % perPage !== 0) perPage -= 1
  return { page: offset / perPage + 1, perPage }
}

/** A connection of one page of a list. Rows that the caller may not see are missing from pages, and leave no gap. */
export function connection<Row>(
  { page, perPage }: PageOfList,
  rows: readonly Row[],
  hasNextPage: boolean,
  node: (row: Row) => unknown,
) {
  const offset = (page - 1) * perPage
  const nodes = rows.map(node)
  return {
    nodes,
    edges: nodes.map((of, at) => ({ cursor: cursorAfter(offset + at + 1), node: of })),
    pageInfo: {
      hasNextPage,
      hasPreviousPage: offset > 0,
      startCursor: nodes.length === 0 ? null : cursorAfter(offset),
      endCursor:
        nodes.length === 0 && !hasNextPage
          ? null
          : cursorAfter(offset + (hasNextPage ? perPage : nodes.length)),
    },
  }
}

/** A connection of a list that is known as a whole. */
export function connectionOf<Row>(rows: readonly Row[], asked: PageArguments, node: (row: Row) => unknown) {
  const page = pageOfList(asked)
  const begin = (page.page - 1) * page.perPage
  const end = begin + page.perPage
  return connection(page, rows.slice(begin, end), rows.length > end, node)
}

function cursorAfter(offset: number): string {
  return Buffer.from(String(offset)).toString('base64url')
}

function readCursor(cursor: string | null | undefined): number {
  if (cursor == null || cursor === '') return 0
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!/^\d{1,9}$/.test(text)) throw new GraphQLError('`after` is no cursor of this list')
  return Number(text)
}
