import { LruMap } from '../kernel/lib/lru.ts'
import { parseCommit, parseTag, type Commit, type Tag } from './commit-format.ts'
import { isAncestor } from './is-ancestor.ts'
import { objectName, peeled } from './object-readers.ts'
import type { Oid, Rev, TreePath } from './parse.ts'
import type { Repository } from './repository.ts'
import { run, type RunOptions } from './run.ts'

export type { Commit, Signature, Tag } from './commit-format.ts'
export { isAncestor }

/** The commit that a revision names, through tags; `undefined` when there is none. */
export async function findCommit(repository: Repository, rev: Rev): Promise<Commit | undefined> {
  const found = await repository.readers.object(repository, peeled(rev, 'commit'))
  return found === undefined ? undefined : parseCommit(found.oid, found.content)
}

/** The id of the commit that a revision names. Cheaper than `findCommit`. */
export async function resolve(repository: Repository, rev: Rev): Promise<Oid | undefined> {
  return (await repository.readers.header(repository, peeled(rev, 'commit')))?.oid
}

/** The annotated tag object with this id. */
export async function findTag(repository: Repository, oid: Oid): Promise<Tag | undefined> {
  const found = await repository.readers.object(repository, objectName(oid))
  return found?.type === 'tag' ? parseTag(found.oid, found.content) : undefined
}

/** The commits with these ids, in their order; ids that name none are left out. */
export async function readCommits(repository: Repository, oids: readonly Oid[]): Promise<Commit[]> {
  const found = await Promise.all(oids.map((oid) => repository.readers.object(repository, objectName(oid))))
  return found.flatMap((object) =>
    object?.type === 'commit' ? [parseCommit(object.oid, object.content)] : [],
  )
}

export interface CommitFilter {
  /** Start here. A revision that names no commit makes the answer empty. */
  readonly revs?: readonly Rev[]
  /** Leave out what these contain. */
  readonly not?: readonly Rev[]
  /** Start from every branch and tag instead. */
  readonly all?: boolean | undefined
  /** Only commits that change something at or below one of these. */
  readonly paths?: readonly TreePath[] | undefined
  /** By the committer's date. */
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** A part of `Name <address>`, as it is written; no pattern. */
  readonly author?: string | undefined
  /** A part of the message, whatever its case; no pattern. */
  readonly message?: string | undefined
  readonly firstParent?: boolean | undefined
}

export interface CommitPage extends CommitFilter {
  /** `topo`: no commit before its children. Default: by date. */
  readonly order?: 'default' | 'topo' | undefined
  readonly skip?: number | undefined
  readonly limit: number
}

type RevListOptions = RunOptions<'rev-list'> & { readonly input: string }

/** `undefined`: a revision names nothing, so that there is nothing to list. */
async function revList(
  repository: Repository,
  filter: CommitFilter,
  flags: RevListOptions['flags'] = [],
): Promise<RevListOptions | undefined> {
  const starts = await Promise.all((filter.revs ?? []).map((rev) => resolve(repository, rev)))
  const stops = await Promise.all((filter.not ?? []).map((rev) => resolve(repository, rev)))
  if (starts.includes(undefined) || stops.includes(undefined)) return undefined
  if (starts.length === 0 && filter.all !== true) return undefined
  const all: RevListOptions['flags'] = [...flags, '--stdin']
  const more: RevListOptions['flags'] = [
    ...(filter.all === true ? (['--branches', '--tags'] as const) : []),
    ...(filter.firstParent === true ? (['--first-parent'] as const) : []),
    ...(filter.since === undefined ? [] : ([`--max-age=${seconds(filter.since)}`] as const)),
    ...(filter.until === undefined ? [] : ([`--min-age=${seconds(filter.until)}`] as const)),
    // A part and not a pattern: a user's regular expression could keep git busy for hours.
    ...(filter.author === undefined
      ? []
      : (['--fixed-strings', `--author=${singleLine(filter.author)}`] as const)),
    ...(filter.message === undefined
      ? []
      : (['--fixed-strings', '--regexp-ignore-case', `--grep=${singleLine(filter.message)}`] as const)),
  ]
  return {
    flags: [...all, ...more],
    ...(filter.paths === undefined ? {} : { paths: filter.paths }),
    input: [...starts, ...stops.map((oid) => `^${oid ?? ''}`)].map((line) => `${line ?? ''}\n`).join(''),
  }
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}

/** A NUL can not be passed to a program, and no author has a line break. */
function singleLine(text: string): string {
  return text.replace(/[\0\n]/g, ' ')
}

/** Bytes of lists of commits that are remembered, about. */
const rememberedLists = 4 * 1024 * 1024

/** By what was asked of git. A commit names its whole history, so the answer is the same for ever, in any repository. */
const lists = new LruMap<string, readonly Oid[]>(rememberedLists)

export async function listCommitIds(repository: Repository, page: CommitPage): Promise<readonly Oid[]> {
  const options = await revList(repository, page, [
    `--max-count=${page.limit}`,
    `--skip=${page.skip ?? 0}`,
    ...(page.order === 'topo' ? (['--topo-order'] as const) : []),
  ])
  if (options === undefined) return []
  const question = page.all === true ? undefined : JSON.stringify(options)
  const known = question === undefined ? undefined : lists.get(question)
  if (known !== undefined) return known
  const { stdout } = await run(repository, 'rev-list', options)
  const oids = stdout.toString('latin1').split('\n').filter(Boolean) as Oid[]
  if (question !== undefined) lists.set(question, oids, question.length + stdout.length)
  return oids
}

export async function listCommits(repository: Repository, page: CommitPage): Promise<Commit[]> {
  return readCommits(repository, await listCommitIds(repository, page))
}

/** How many commits match; counting stops at `limit`. */
export async function countCommits(
  repository: Repository,
  filter: CommitFilter,
  limit?: number,
): Promise<number> {
  const options = await revList(repository, filter, [
    '--count',
    ...(limit === undefined ? [] : ([`--max-count=${limit}`] as const)),
  ])
  if (options === undefined) return 0
  const { stdout } = await run(repository, 'rev-list', options)
  return Number(stdout.toString())
}

/** The last commit, seen from `rev`, that changed something at or below this path. */
export async function lastCommitFor(
  repository: Repository,
  rev: Rev,
  path: TreePath,
): Promise<Commit | undefined> {
  const paths = path === '' ? undefined : [path]
  return (await listCommits(repository, { revs: [rev], paths, limit: 1 }))[0]
}
