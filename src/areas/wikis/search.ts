import { grep, parsePath, type Oid, type Repository } from '../../git/index.ts'
import { pageName } from './pages/files.ts'
import type { PageIndexes } from './pages/find.ts'

export interface Found {
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
export async function searchPages(
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
