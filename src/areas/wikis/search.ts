import { grep, parsePath, type Oid, type Repository } from '../../git/index.ts'
import { Page, type PageInput, type Static } from '../../kernel/endpoint/index.ts'
import type { FoundBlob } from './entities.ts'
import type { Owner } from './owners.ts'
import { pageName } from './pages/files.ts'
import type { PageIndexes } from './pages/find.ts'
import { present, type WikiRoom } from './services.ts'
import * as store from './store.ts'

interface Found {
  readonly path: string
  /** From 1. */
  readonly line: number
  readonly text: string
}

/** Lines that are looked at; who gets as many should ask for something rarer. */
const mostLines = 20_000
/** Characters of a line that are shown. */
const longestLine = 1000

/** The pages that hold a text or are called so, by path, each with the first line where it stands. */
async function searchPages(
  indexes: PageIndexes,
  { repository, commit }: { repository: Repository; commit: Oid },
  text: string,
  signal: AbortSignal,
): Promise<Found[]> {
  const found = new Map<string, Found>()
  for (const { path, line, text: content } of await grep(repository, commit, text, {
    limit: mostLines,
    signal,
  })) {
    if (found.has(path) || pageName(path) === undefined) continue
    found.set(path, { path, line, text: content.slice(0, longestLine) })
  }
  const wanted = text.toLowerCase()
  const { pages } = await indexes.of(repository, commit)
  for (const { path, title } of pages) {
    if (!found.has(path) && title.toLowerCase().includes(wanted))
      found.set(path, { path, line: 1, text: title })
  }
  const shown = new Set(pages.map(({ path }) => path))
  return [...found.values()]
    .filter(({ path }) => shown.has(path) && parsePath(path) !== undefined)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

export type WikiMatch = Static<typeof FoundBlob>

/** A page of the pages that hold a text. */
export async function foundPage(
  indexes: PageIndexes,
  where: { readonly repository: Repository; readonly commit: Oid },
  { kind, id }: Owner,
  text: string,
  { offset, perPage }: Pick<PageInput, 'offset' | 'perPage'>,
  signal: AbortSignal,
): Promise<Page<WikiMatch>> {
  const found = await searchPages(indexes, where, text.slice(0, 4096), signal)
  const shown = found.slice(offset, offset + perPage).map(({ path, line, text: data }) => ({
    basename: path.replace(/\.[^./]*$/, ''),
    data,
    path,
    filename: path,
    id: null,
    ref: where.commit,
    startline: line,
    project_id: kind === 'project' ? id : null,
    group_id: kind === 'group' ? id : null,
  }))
  return new Page(shown, { total: found.length, hasMore: offset + perPage < found.length })
}

/** The same by whose wiki it is, for a caller of whom it is known that he reads it. */
export async function searchWiki(
  room: WikiRoom,
  owner: Owner,
  text: string,
  page: Pick<PageInput, 'offset' | 'perPage'>,
  signal: AbortSignal,
): Promise<Page<WikiMatch>> {
  const where = await present(room, await store.ofOwner(room.db.reader, owner))
  if (where === undefined) return new Page([], { total: 0 })
  return foundPage(room.indexes, where, owner, text, page, signal)
}
