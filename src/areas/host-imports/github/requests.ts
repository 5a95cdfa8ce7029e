import { createHash } from 'node:crypto'
import { branchRef, parseOid, resolve, zeroOid, type Oid } from '../../../git/index.ts'
import { broughtVersion, requestRef, writeBrought, type BroughtRequest } from '../../merge-requests/index.ts'
import { recordReader } from '../../project-archives/index.ts'
import { HostFault } from '../faults.ts'
import type { Account, People } from '../people.ts'
import * as store from '../step-store.ts'
import type { Failure } from '../step-store.ts'
import { titleOf } from '../texts.ts'
import { failureOf, readEach, type Work } from '../work.ts'
import { accountOf, pullRequestOf, type PullRequest } from './records.ts'
import { pageOf, peopleOf } from './work.ts'

const { objectOf } = recordReader

type Version = Awaited<ReturnType<typeof broughtVersion>>

/** Pull requests become merge requests, with the numbers that they have. */
export async function takePullRequests(work: Work): Promise<void> {
  const { room, step, project } = work
  const { entries, further } = await pageOf(work, '/pulls?state=all&sort=created&direction=asc')
  const { records, failures } = readEach('pull_requests', entries, pullRequestOf)
  const mergers = new Map<number, Account | null>()
  for (const { number, mergedAt } of records) {
    if (mergedAt !== null) mergers.set(number, await mergerOf(work, number))
  }
  const people = await peopleOf(work, [
    ...records.flatMap(({ author, assignees, reviewers }) => [author, ...assignees, ...reviewers]),
    ...mergers.values(),
  ])
  const ready: { readonly request: BroughtRequest; readonly version: Version }[] = []
  const missing: Failure[] = []
  for (const pull of records) {
    try {
      ready.push(await prepare(work, people, pull, mergers.get(pull.number) ?? null))
    } catch (error) {
      if (!(error instanceof HostFault)) throw error
      missing.push(failureOf('pull_requests', error, String(pull.number)))
    }
  }
  await room.db.transaction(async (tx) => {
    let imported = 0
    for (const { request, version } of ready) {
      if (await writeBrought(tx, project.id, request, version)) imported += 1
    }
    await store.finish(tx, step, {
      ...{ fetched: entries.length, imported, further },
      failures: [...failures, ...missing],
    })
  })
}

/** Only the request by itself tells who has merged it. */
async function mergerOf({ client, step }: Work, number: number): Promise<Account | null> {
  const value = await client.find(`/repos/${step.fullName}/pulls/${number}`)
  return value === undefined ? null : accountOf(objectOf(value)['merged_by'])
}

async function prepare(
  work: Work,
  people: People,
  pull: PullRequest,
  merger: Account | null,
): Promise<{ readonly request: BroughtRequest; readonly version: Version }> {
  const { room, project, step } = work
  const repository = room.places.of(project)
  const kept = await resolve(repository, requestRef(pull.number, 'head'))
  const head = (await presentIn(work, pull.head.sha)) ?? kept
  if (head === undefined) throw new HostFault('Its commits are not in the repository.')
  const start = (await presentIn(work, pull.base.sha)) ?? (await presentIn(work, pull.base.branch)) ?? head
  const version = await broughtVersion(room, project, { head, start })
  const own = pull.head.repository?.toLowerCase() === step.fullName.toLowerCase()
  const state = pull.mergedAt !== null ? 'merged' : pull.open ? 'opened' : 'closed'
  const sourceBranch = own ? ownBranch(pull) : foreignBranch(pull)
  if (!own && state === 'opened') await makeBranch(work, sourceBranch, head)
  const ref = branchRef(sourceBranch)
  const merged = state === 'merged'
  return {
    version,
    request: {
      iid: pull.number,
      title: titleOf(pull.draft && state === 'opened' ? `Draft: ${pull.title}` : pull.title),
      description: people.textOf(pull.author, pull.body),
      state,
      sourceBranch,
      targetBranch: pull.base.branch,
      sourceHere: own || state === 'opened',
      sourceGone: ref === undefined || (await resolve(repository, ref)) === undefined,
      authorId: people.authorOf(pull.author),
      createdAt: pull.createdAt,
      updatedAt: pull.updatedAt,
      mergedAt: pull.mergedAt,
      closedAt: merged ? null : pull.closedAt,
      mergeUserId: merged ? people.authorOf(merger) : null,
      mergeCommit: merged ? pull.mergeCommit : null,
      locked: pull.locked,
      milestone: pull.milestone,
      labels: pull.labels,
      assigneeIds: people.usersOf(pull.assignees),
      reviewerIds: people.usersOf(pull.reviewers),
    },
  }
}

/** A commit that is here, by its name or that of a branch. */
async function presentIn({ room, project }: Work, name: string): Promise<Oid | undefined> {
  const repository = room.places.of(project)
  const oid = parseOid(name)
  if (oid !== undefined) return resolve(repository, oid)
  const ref = branchRef(name)
  return ref === undefined ? undefined : resolve(repository, ref)
}

/** A branch cannot be brought to itself. */
function ownBranch({ head, base, number }: PullRequest): string {
  return head.branch === base.branch ? `${head.branch}-${number}` : head.branch
}

/** As branches of forks are called here, whose projects nobody knows. */
function foreignBranch({ head, author, number }: PullRequest): string {
  const [owner = author?.login ?? 'ghost', fork = 'gone'] = head.repository?.split('/') ?? []
  const name = `GH-${head.sha.slice(0, 7)}-${owner}/${number}/${fork}/${head.branch}`
  const usable = branchRef(name) !== undefined && name.length <= 255
  return usable ? name : `GH-${createHash('sha1').update(name).digest('hex').slice(0, 12)}/${number}`
}

async function makeBranch({ room, actor, project }: Work, branch: string, head: Oid): Promise<void> {
  const ref = branchRef(branch)
  if (ref === undefined || (await resolve(room.places.of(project), ref)) !== undefined) return
  const mover = { actor, project, pushOptions: ['ci.skip'] }
  await room.door.bringEach(mover, [{ ref, oldOid: zeroOid, newOid: head }], undefined)
}
