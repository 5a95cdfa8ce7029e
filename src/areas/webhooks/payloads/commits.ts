import {
  commitChanges,
  countCommits,
  findCommit,
  isZero,
  listCommits,
  parseOid,
  type ChangedPath,
  type Commit,
  type Oid,
  type Repository,
} from '../../../git/index.ts'

/** Commits that a call lists; the newest of more. */
const most = 20
const mostCounted = 10_000
const mostPaths = 1000

export interface ShownCommit {
  readonly id: string
  readonly message: string
  readonly title: string
  readonly timestamp: string
  readonly url: string
  readonly author: { readonly name: string; readonly email: string }
}

export function shownCommit(commit: Commit, web: string): ShownCommit {
  return {
    id: commit.oid,
    message: commit.message,
    title: commit.title,
    timestamp: zoned(commit.committer),
    url: `${web}/-/commit/${commit.oid}`,
    author: { name: commit.author.name, email: commit.author.email },
  }
}

/** ISO 8601 with the offset of the place where it was written. */
function zoned({ date, offset }: Commit['committer']): string {
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 19)
  const minutes = Math.abs(offset)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

interface Pushed {
  readonly commits: readonly object[]
  readonly total: number
}

/** What a push brought, oldest first: the commits that neither the ref's old place nor `base` has. */
export async function pushedCommits(
  repository: Repository,
  { from, to, base }: { from: Oid; to: Oid; base: Oid | undefined },
  web: string,
): Promise<Pushed> {
  const not = isZero(from) ? (base === undefined || base === to ? [] : [base]) : [from]
  const found = await listCommits(repository, { revs: [to], not, limit: most + 1 })
  const total =
    found.length > most ? await countCommits(repository, { revs: [to], not }, mostCounted) : found.length
  const commits = found.slice(0, most).reverse()
  const shown = await Promise.all(
    commits.map(async (commit) => ({
      ...shownCommit(commit, web),
      ...(await pathsOf(repository, commit.oid)),
    })),
  )
  return { commits: shown, total }
}

async function pathsOf(
  repository: Repository,
  oid: Oid,
): Promise<Readonly<Record<'added' | 'modified' | 'removed', readonly string[]>>> {
  const paths: Record<'added' | 'modified' | 'removed', string[]> = { added: [], modified: [], removed: [] }
  let count = 0
  for await (const change of commitChanges(repository, [oid])) {
    paths[kindOf(change)].push(change.path)
    count += 1
    if (count >= mostPaths) break
  }
  return paths
}

function kindOf({ status }: ChangedPath): 'added' | 'modified' | 'removed' {
  return status === 'added' ? 'added' : status === 'deleted' ? 'removed' : 'modified'
}

/** The commit with this id as calls show it; null when there is none. */
export async function commitOf(
  repository: Repository,
  sha: string,
  web: string,
): Promise<ShownCommit | null> {
  const oid = parseOid(sha)
  const commit = oid === undefined ? undefined : await findCommit(repository, oid).catch(() => undefined)
  return commit === undefined ? null : shownCommit(commit, web)
}
