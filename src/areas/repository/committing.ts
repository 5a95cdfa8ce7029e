import { commitAddress, userOf, type Actor, type ProjectSubject, type User } from '../../access/index.ts'
import {
  branchRef,
  FileActionError,
  findCommit,
  GitError,
  parseRev,
  resolve,
  type Commit,
  type Oid,
  type PreparedChange,
  type RefName,
  type Repository,
  type Signature,
} from '../../git/index.ts'
import { forbidden, refused, type ApiError } from '../../kernel/errors/index.ts'
import { branchState, mayPushCodeTo, type BranchRule } from '../protected-branches/index.ts'
import { readable } from './looking.ts'
import { bringCommits } from './networks.ts'
import type { RepositoryServices } from './services.ts'

/** What a commit is made with. */
type CommitServices = Pick<RepositoryServices, 'db' | 'places' | 'door'>

/** Who writes to which project, and the rules of its branches. */
export interface Writer {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly rules: readonly BranchRule[]
}

export interface Target {
  readonly branch: string
  /** The branch to start from, when `branch` is to be a new one. */
  readonly startBranch?: string | undefined
  readonly startSha?: string | undefined
  /** The relative that the start is looked up in, where it is another project. */
  readonly from?: ProjectSubject | undefined
  /** Lets an existing branch begin anew at the start. */
  readonly force?: boolean | undefined
}

export interface WritePlace {
  readonly repository: Repository
  readonly ref: RefName
  /** The commit to build on; undefined for the first one of an empty repository. */
  readonly start: Oid | undefined
}

const mayNot = 'You are not allowed to push into this branch'
const noBranch = 'You can only create or edit files when you are on a branch'

/** Refuses whom the branch's rules keep from pushing, before anything is built. The door asks again, for good. */
export async function requirePush(
  { db }: Pick<RepositoryServices, 'db'>,
  { actor, project, rules }: Writer,
  branch: string,
): Promise<void> {
  const mayPushCode = await mayPushCodeTo(db.reader, actor, project, branch)
  if (!branchState(branch, rules, actor, project, mayPushCode).mayPush) throw forbidden(mayNot)
}

/** Where a commit for this branch goes, or the refusal. */
export async function openTarget(
  services: CommitServices,
  writer: Writer,
  { branch, startBranch, startSha, from, force = false }: Target,
): Promise<WritePlace> {
  await requirePush(services, writer, branch)
  const ref = /^refs\/(?:heads|remotes)\//.test(branch) ? undefined : branchRef(branch)
  if (ref === undefined) throw refused(400, 'Branch name is invalid')
  const repository = await services.places.open(writer.project)
  const head = await resolve(repository, ref)
  if (from !== undefined) {
    if (head !== undefined && !force) throw branchExists(branch)
    const start = await startIn(services, writer, from, { startBranch: startBranch ?? branch, startSha })
    return { repository, ref, start }
  }
  if (startSha !== undefined) {
    const start = await shaOf(repository, startSha)
    if (head !== undefined && !force) throw branchExists(branch)
    return { repository, ref, start }
  }
  if (startBranch === undefined || startBranch === branch) {
    if (head === undefined && !writer.project.repositoryEmpty) throw refused(400, noBranch)
    return { repository, ref, start: head }
  }
  if (head !== undefined && !force) throw branchExists(branch)
  const startRef = branchRef(startBranch)
  const start = startRef && (await resolve(repository, startRef))
  if (start === undefined && !writer.project.repositoryEmpty) throw refused(400, noBranch)
  return { repository, ref, start }
}

/** A start of another project of the network, which ours has then too. */
async function startIn(
  services: CommitServices,
  { project }: Writer,
  from: ProjectSubject,
  { startBranch, startSha }: { readonly startBranch: string; readonly startSha: string | undefined },
): Promise<Oid> {
  const source = await readable(services.places, from)
  const named = branchRef(startBranch)
  const start =
    source === undefined
      ? undefined
      : startSha === undefined
        ? named && (await resolve(source, named))
        : await shaOf(source, startSha)
  if (start === undefined) throw refused(400, noBranch)
  await bringCommits(services, from, project, start)
  return start
}

function branchExists(branch: string): ApiError {
  const text = `A branch called '${branch}' already exists. Switch to that branch in order to make changes`
  return refused(400, text)
}

async function shaOf(repository: Repository, sha: string): Promise<Oid> {
  const rev = /^[0-9a-f]{7,40}$/i.test(sha) ? parseRev(sha.toLowerCase()) : undefined
  if (rev === undefined) throw refused(400, `Invalid start_sha '${sha}'`)
  const found = await resolve(repository, rev)
  if (found === undefined) throw refused(400, `Cannot find start_sha '${sha}'`)
  return found
}

/** As whom somebody commits now. */
export function committerOf(
  house: Pick<RepositoryServices, 'settings' | 'externalUrl'>,
  user: User,
): Signature {
  return { name: user.name, email: commitAddress(house, user), date: new Date(), offset: 0 }
}

/** Author and committer of a commit that the caller makes; another author may be named. */
export function signatures(
  house: Pick<RepositoryServices, 'settings' | 'externalUrl'>,
  actor: Actor,
  author: { readonly name?: string | undefined; readonly email?: string | undefined } = {},
): { author: Signature; committer: Signature } {
  const committer = committerOf(house, userOf(actor))
  const { name, email } = committer
  return { author: { ...committer, name: author.name ?? name, email: author.email ?? email }, committer }
}

/** Builds a change, brings it in through the door, and gives the commit. What does not fit is refused with 400. */
export async function commitChange(
  { door }: CommitServices,
  { actor, project }: Writer,
  { repository, ref }: WritePlace,
  build: () => Promise<PreparedChange>,
): Promise<Commit> {
  await using change = await build().catch(translate)
  const { rejected } = await door.update({ actor, project, via: 'web' }, change.updates, change)
  const [problem] = rejected
  if (problem?.reason === 'refused') throw refused(400, worded(problem.message))
  if (problem?.reason === 'conflict') {
    const branch = ref.slice('refs/heads/'.length)
    throw refused(
      400,
      `Failed to create branch '${branch}': Branch name conflicts with existing branch hierarchy.`,
    )
  }
  if (problem !== undefined) throw refused(400, `Could not update ${ref}. Please refresh and try again.`)
  return (await findCommit(repository, change.oid))!
}

/** The rule was changed between the first look and the door. */
function worded(message: string): string {
  return message === 'You are not allowed to push code to protected branches on this project.'
    ? mayNot
    : message
}

const fileProblems = {
  exists: 'A file with this name already exists',
  missing: "A file with this name doesn't exist",
} as const

function translate(error: unknown): never {
  if (error instanceof FileActionError) throw refused(400, fileProblems[error.problem])
  if (error instanceof GitError && error.failure === 'bad-objects') {
    throw refused(400, 'Git refuses these files: a path or a name is not allowed')
  }
  throw error
}
