import { notFound } from '../../kernel/errors/index.ts'
import {
  findCommit,
  listRefs,
  mergeBases,
  mergedBranches,
  parseRev,
  readCommits,
  repositoryExists,
  resolve,
  type Commit,
  type CommitFilter,
  type Oid,
  type RefName,
  type RefSnapshot,
  type Repository,
  type Rev,
} from '../../git/index.ts'
import type { PlacedProject, RepositoryPlaces } from './places.ts'

/** A project whose code is looked at; `ProjectSubject` fits. */
export interface ReadProject extends PlacedProject {
  readonly refsVersion: number
}

/** The repository of a project for reading; undefined where nothing was pushed, not even a tag. */
export async function readable(
  places: RepositoryPlaces,
  project: ReadProject,
): Promise<Repository | undefined> {
  const repository = places.of(project)
  return !project.repositoryEmpty || (await repositoryExists(repository)) ? repository : undefined
}

/** The refs of a project, from memory when they have not changed. */
export async function refsOf(
  places: RepositoryPlaces,
  project: ReadProject,
): Promise<RefSnapshot | undefined> {
  const repository = await readable(places, project)
  return repository === undefined ? undefined : listRefs(repository, project.refsVersion)
}

/** A branch, tag or commit as a caller names it; without a name where HEAD is. Undefined: no name of anything. */
export function revOf(name: string | undefined): Rev | undefined {
  return parseRev(name === undefined || name === '' ? 'HEAD' : name)
}

/** Commits to list: those that `revs` have and `not` have not; with `apart` not what all of `revs` have either. */
interface Range {
  readonly revs: readonly Rev[]
  readonly not: readonly Rev[]
  readonly apart: boolean
}

/**
 * As `revOf`, or a range in the words of git: `a..b` is what b has and a has not, `a...b` what only one of the two has;
 * an end that is left out is HEAD.
 */
export function rangeOf(name: string | undefined): Range | undefined {
  const [, from, dots, to] = /^(.*?)(\.{2,3})(.*)$/s.exec(name ?? '') ?? []
  const start = revOf(dots === undefined ? undefined : from)
  const end = revOf(dots === undefined ? name : to)
  if (start === undefined || end === undefined) return undefined
  if (dots === undefined) return { revs: [end], not: [], apart: false }
  return dots === '..'
    ? { revs: [end], not: [start], apart: false }
    : { revs: [start, end], not: [], apart: true }
}

/** The filter that lists a range. */
export async function filterOf(
  repository: Repository,
  { revs, not, apart }: Range,
): Promise<Pick<CommitFilter, 'revs' | 'not'>> {
  if (!apart) return { revs, not }
  const ends = await Promise.all(revs.map((rev) => resolve(repository, rev)))
  const known = ends.filter((end) => end !== undefined)
  // With an end that is not there nothing is listed.
  return { revs, not: known.length < revs.length ? [] : await mergeBases(repository, known) }
}

export async function resolveName(
  repository: Repository | undefined,
  name: string | undefined,
): Promise<Oid | undefined> {
  const rev = revOf(name)
  return repository === undefined || rev === undefined ? undefined : resolve(repository, rev)
}

/** The commit of that name, with its repository; `404 Commit Not Found`. */
export async function commitNamed(
  places: RepositoryPlaces,
  project: ReadProject,
  name: string,
): Promise<{ repository: Repository; commit: Commit }> {
  const repository = await readable(places, project)
  const rev = revOf(name)
  const commit = repository && rev && (await findCommit(repository, rev))
  if (repository === undefined || commit === undefined) throw notFound('Commit')
  return { repository, commit }
}

// What is worked out of a snapshot of refs holds as long as that: a push makes a new one.
const merged = new WeakMap<RefSnapshot, Promise<ReadonlySet<RefName>>>()
const dates = new WeakMap<RefSnapshot, Promise<ReadonlyMap<Oid, number>>>()

/** Branches whose commits are all on the default branch, and that are not just where it is. */
export function mergedInto(repository: Repository, refs: RefSnapshot): Promise<ReadonlySet<RefName>> {
  return kept(merged, refs, async () => {
    const { headOid } = refs
    if (headOid === undefined) return new Set()
    const found = await mergedBranches(repository, headOid)
    return new Set(found.filter((name) => refs.find(name)?.oid !== headOid))
  })
}

/** Commit dates, in milliseconds, of everything that a branch or tag points at. */
export function datesOf(repository: Repository, refs: RefSnapshot): Promise<ReadonlyMap<Oid, number>> {
  return kept(dates, refs, async () => {
    const targets = new Set([
      ...refs.branches.map(({ oid }) => oid),
      ...refs.tags.map(({ target }) => target),
    ])
    const commits = await readCommits(repository, [...targets])
    return new Map(commits.map(({ oid, committer }) => [oid, committer.date.getTime()]))
  })
}

function kept<Value>(
  cache: WeakMap<RefSnapshot, Promise<Value>>,
  refs: RefSnapshot,
  find: () => Promise<Value>,
): Promise<Value> {
  let found = cache.get(refs)
  if (found === undefined) {
    found = find()
    cache.set(refs, found)
    found.catch(() => cache.delete(refs))
  }
  return found
}
