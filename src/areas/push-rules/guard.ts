import {
  commitAddress,
  holderOfPrivate,
  privateAddress,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import {
  blobSize,
  branchName,
  commitChanges,
  tagName,
  type Commit,
  type Proposal,
  type ProposedUpdate,
  type RefGuard,
  type Refusal,
} from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Settings } from '../../settings/index.ts'
import { Checker, type Pusher } from './rules.ts'
import * as store from './store.ts'

interface House {
  readonly db: Database
  readonly settings: Settings
  readonly externalUrl: () => string
}

interface Mover {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly via: 'git' | 'web'
}

/** Commits that are looked at in one push: more of them at once are an import, whose history is what it is. */
const mostCommits = 100_000

/** The push rule of a project, as the ref door asks it. */
export function pushRuleGuard(house: House, mover: Mover): RefGuard {
  const { db } = house
  return {
    async check({ updates, objects }) {
      const row = await store.find(db.reader, 'project', mover.project.id)
      if (row === undefined) return []
      const checker = new Checker(row)
      const refusals: Refusal[] = []
      for (const update of updates) {
        const message = await problemOf(house, checker, mover, update, objects)
        if (message !== undefined) refusals.push({ ref: update.ref, message })
      }
      return refusals
    },
  }
}

async function problemOf(
  house: House,
  checker: Checker,
  mover: Mover,
  update: ProposedUpdate,
  objects: Proposal['objects'],
): Promise<string | undefined> {
  if (tagName(update.ref) !== undefined) {
    return update.isDeletion ? checker.tagDeletion(mover.via) : undefined
  }
  const branch = branchName(update.ref)
  if (branch === undefined || update.isDeletion) return undefined
  const badName = checker.branch(branch, branch === mover.project.defaultBranch)
  if (badName !== undefined) return badName
  if (!checker.looksAtCommits && !checker.looksAtFiles) return undefined
  const commits = await update.newCommits(mostCommits)
  if (checker.looksAtCommits && commits.length > 0) {
    const pusher = await pusherOf(house, checker, mover, commits)
    for (const commit of commits) {
      const message = checker.commit(commit, pusher)
      if (message !== undefined) return message
    }
  }
  return checker.looksAtFiles ? fileProblem(checker, commits, objects) : undefined
}

async function pusherOf(
  house: House,
  checker: Checker,
  { actor, via }: Mover,
  commits: readonly Commit[],
): Promise<Pusher> {
  const { user, deployKey } = actor
  if (!checker.looksAtPeople) {
    return { via, pusher: { name: user?.name ?? '', emails: new Set() }, known: new Set() }
  }
  const addresses = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  const id = user?.id ?? deployKey?.ownerId ?? null
  const emails = id === null ? new Set<string>() : await store.emailsOf(house.db.reader, id)
  if (user !== null) emails.add(commitAddress(house, { ...user, commitEmail: privateAddress }).toLowerCase())
  return {
    via,
    pusher: { name: user?.name ?? '', emails },
    known: await knownAddresses(house, [...new Set(addresses.map((email) => email.toLowerCase()))]),
  }
}

/** Those of the addresses that users have shown to be theirs, or that only stand for users. */
async function knownAddresses(house: House, addresses: readonly string[]): Promise<Set<string>> {
  const known = await store.knownEmails(house.db.reader, addresses)
  const holders = new Map(
    addresses.flatMap((address) => {
      const holder = holderOfPrivate(house, address)
      return holder === undefined ? [] : [[address, holder] as const]
    }),
  )
  if (holders.size === 0) return known
  const users = await store.existing(house.db.reader, [...holders.values()])
  for (const [address, holder] of holders) if (users.has(holder)) known.add(address)
  return known
}

async function fileProblem(
  checker: Checker,
  commits: readonly Commit[],
  objects: Proposal['objects'],
): Promise<string | undefined> {
  // What a merge brings together came in by its own commits.
  const plain = commits.filter(({ parents }) => parents.length < 2)
  const measured = new Set<string>()
  for await (const { status, path, newOid, newMode } of commitChanges(
    objects,
    plain.map(({ oid }) => oid),
  )) {
    if (status === 'deleted') continue
    const message = status === 'added' ? checker.newFile(path) : undefined
    if (message !== undefined) return message
    if (checker.rule.max_file_size === 0 || measured.has(newOid) || newMode === '160000') continue
    measured.add(newOid)
    const tooLarge = checker.fileSize(path, (await blobSize(objects, newOid)) ?? 0)
    if (tooLarge !== undefined) return tooLarge
  }
  return undefined
}
