import {
  changedPaths,
  countCommits,
  listCommits,
  parsePath,
  type Commit,
  type Oid,
  type Repository,
  type TreePath,
} from '../../git/index.ts'
import { extensions, pageName } from './pages/files.ts'
import type { PageFile, PageIndexes } from './pages/find.ts'
import type { Place } from './services.ts'

/** Names that a page is followed through, the present one included. */
const mostNames = 50
/** Files of one commit among which a page's earlier name is looked for. */
const mostChanges = 10_000

/** The time in which a page had one name: all commits that changed it then lie below `rev`. */
interface Era {
  readonly repository: Repository
  readonly rev: Oid
  readonly path: string
}

/** The files that the page was in while it had this name: its format may have changed. */
function pathsOf(path: string): TreePath[] {
  const stem = path.slice(0, path.length - (pageName(path)?.extension.length ?? 0))
  const all = new Set([path, ...Object.values(extensions).map((extension) => `${stem}.${extension}`)])
  return [...all].flatMap((one) => parsePath(one) ?? [])
}

function commitsOf({ repository, rev, path }: Era, page: { skip: number; limit: number }): Promise<Commit[]> {
  return listCommits(repository, { revs: [rev], paths: pathsOf(path), order: 'topo', ...page })
}

function countOf({ repository, rev, path }: Era): Promise<number> {
  return countCommits(repository, { revs: [rev], paths: pathsOf(path) })
}

/** What the page was called before it got the name of this era; undefined: it began there. */
async function before(era: Era, count: number): Promise<Era | undefined> {
  const [first] = await commitsOf(era, { skip: count - 1, limit: 1 })
  const parent = first?.parents[0]
  if (first === undefined || parent === undefined) return undefined
  const { repository, path } = era
  const paths: readonly string[] = pathsOf(path)
  const changes = await changedPaths(repository, parent, first.oid, { renames: true, limit: mostChanges })
  const renamed = changes.find((change) => change.status === 'renamed' && paths.includes(change.path))
  if (renamed === undefined || pageName(renamed.oldPath) === undefined) return undefined
  return { repository, rev: parent, path: renamed.oldPath }
}

/** The commits that changed a page, newest first, also while it had another format or another name. */
export async function versionsOf(
  { repository, commit }: Place,
  { path }: PageFile,
  { skip, limit }: { skip: number; limit: number },
): Promise<Commit[]> {
  const found: Commit[] = []
  let era: Era | undefined = { repository, rev: commit, path }
  let left = skip
  for (let names = 0; era !== undefined && names < mostNames; names += 1) {
    const commits = await commitsOf(era, { skip: left, limit: limit - found.length })
    found.push(...commits)
    if (found.length >= limit) return found
    const count = await countOf(era)
    left = Math.max(0, left - count)
    era = count === 0 ? undefined : await before(era, count)
  }
  return found
}

/** A page as of a version, also if it was called otherwise then. `present`: the wiki as it is now. */
export async function pageAsOf(
  indexes: PageIndexes,
  version: Place,
  present: Place | undefined,
  slug: string,
): Promise<PageFile | undefined> {
  const then = await indexes.find(version.repository, version.commit, slug)
  const now =
    then === undefined && present ? await indexes.find(present.repository, present.commit, slug) : undefined
  if (present === undefined || now === undefined) return then
  let era: Era | undefined = { repository: present.repository, rev: present.commit, path: now.path }
  for (let names = 1; era !== undefined && names < mostNames; names += 1) {
    era = await before(era, await countOf(era))
    const name = era && pageName(era.path)
    const page = name && (await indexes.find(version.repository, version.commit, name.slug))
    if (page !== undefined) return page
  }
  return undefined
}
