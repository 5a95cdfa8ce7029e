import { createHash } from 'node:crypto'
import { branchRef, parseRev, resolve, zeroOid, type Oid } from '../../git/index.ts'
import { broughtVersion, requestRef, writeBrought, type BroughtRequest } from '../merge-requests/index.ts'
import { HostFault } from './faults.ts'
import type { HostKind } from './hosts.ts'
import type { Account, People } from './people.ts'
import * as store from './step-store.ts'
import type { Failure, NewStep } from './step-store.ts'
import { titleOf } from './texts.ts'
import { failureOf, type Work } from './work.ts'

/** One of the two branches of a request. */
export interface Side {
  /** Some hosts only tell how it begins. */
  readonly sha: string
  readonly branch: string
  /** Full name of the repository that the branch is in; null where that is gone. */
  readonly repository: string | null
}

/** A pull request, whatever its host calls its parts. */
export interface HostRequest {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly state: 'opened' | 'closed' | 'merged'
  readonly draft: boolean
  readonly author: Account | null
  readonly assignees: readonly Account[]
  readonly reviewers: readonly Account[]
  readonly labels: readonly string[]
  readonly milestone: number | null
  readonly locked: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly mergedAt: string | null
  readonly closedAt: string | null
  readonly merger: Account | null
  readonly mergeCommit: string | null
  readonly head: Side
  readonly base: Side
}

export const accountsOfRequest = ({
  author,
  assignees,
  reviewers,
  merger,
}: HostRequest): (Account | null)[] => [author, merger, ...assignees, ...reviewers]

interface Told {
  readonly fetched: number
  readonly failures: readonly Failure[]
  readonly further: readonly NewStep[]
}

type Version = Awaited<ReturnType<typeof broughtVersion>>

/** Makes merge requests of requests, with the numbers that they have. */
export async function takeRequests(
  work: Work,
  people: People,
  requests: readonly HostRequest[],
  { fetched, failures, further }: Told,
): Promise<void> {
  const { room, step, project } = work
  const ready: { readonly request: BroughtRequest; readonly version: Version }[] = []
  const missing: Failure[] = []
  for (const request of requests) {
    try {
      ready.push(await prepare(work, people, request))
    } catch (error) {
      if (!(error instanceof HostFault)) throw error
      missing.push(failureOf(step.relation, error, String(request.number)))
    }
  }
  await room.db.transaction(async (tx) => {
    let imported = 0
    for (const { request, version } of ready) {
      if (await writeBrought(tx, project.id, request, version)) imported += 1
    }
    await store.finish(tx, step, { fetched, imported, further, failures: [...failures, ...missing] })
  })
}

async function prepare(
  work: Work,
  people: People,
  asked: HostRequest,
): Promise<{ readonly request: BroughtRequest; readonly version: Version }> {
  const { room, project, step } = work
  const { number, state, head: from, base: to } = asked
  const repository = room.places.of(project)
  const start = (await presentIn(work, to.sha)) ?? (await branchIn(work, to.branch))
  // What is on no branch any more was brought, if at all, by the merge; a request without that brings nothing.
  const head =
    (await presentIn(work, from.sha)) ??
    (await resolve(repository, requestRef(number, 'head'))) ??
    (asked.mergeCommit === null ? undefined : await presentIn(work, asked.mergeCommit)) ??
    start
  if (head === undefined) throw new HostFault('Its commits are not in the repository.')
  const version = await broughtVersion(room, project, { head, start: start ?? head })
  const own = from.repository?.toLowerCase() === step.fullName.toLowerCase()
  const sourceBranch = own ? ownBranch(asked) : foreignBranch(asked, step.kind)
  if (!own && state === 'opened') await makeBranch(work, sourceBranch, head)
  const merged = state === 'merged'
  return {
    version,
    request: {
      iid: number,
      title: titleOf(asked.draft && state === 'opened' ? `Draft: ${asked.title}` : asked.title),
      description: people.textOf(asked.author, asked.body),
      state,
      sourceBranch,
      targetBranch: to.branch,
      sourceHere: own || state === 'opened',
      sourceGone: (await branchIn(work, sourceBranch)) === undefined,
      authorId: people.authorOf(asked.author),
      createdAt: asked.createdAt,
      updatedAt: asked.updatedAt,
      mergedAt: asked.mergedAt,
      closedAt: merged ? null : asked.closedAt,
      mergeUserId: merged ? people.authorOf(asked.merger) : null,
      mergeCommit:
        merged && asked.mergeCommit !== null ? ((await presentIn(work, asked.mergeCommit)) ?? null) : null,
      locked: asked.locked,
      milestone: asked.milestone,
      labels: asked.labels,
      assigneeIds: people.usersOf(asked.assignees),
      reviewerIds: people.usersOf(asked.reviewers),
    },
  }
}

/** A commit that is here. */
async function presentIn({ room, project }: Work, sha: string): Promise<Oid | undefined> {
  const rev = /^[0-9a-f]{7,40}$/.test(sha) ? parseRev(sha) : undefined
  return rev === undefined ? undefined : resolve(room.places.of(project), rev)
}

async function branchIn({ room, project }: Work, name: string): Promise<Oid | undefined> {
  const ref = branchRef(name)
  return ref === undefined ? undefined : resolve(room.places.of(project), ref)
}

/** A branch cannot be brought to itself. */
function ownBranch({ head, base, number }: HostRequest): string {
  return head.branch === base.branch ? `${head.branch}-${number}` : head.branch
}

/** As branches of forks are called here, whose projects nobody knows. */
function foreignBranch({ head, author, number }: HostRequest, kind: HostKind): string {
  const prefix = kind === 'github' ? 'GH' : 'BB'
  const [owner = author?.login ?? 'ghost', fork = 'gone'] = head.repository?.split('/') ?? []
  const name = `${prefix}-${head.sha.slice(0, 7)}-${owner}/${number}/${fork}/${head.branch}`
  const usable = branchRef(name) !== undefined && name.length <= 255
  return usable ? name : `${prefix}-${createHash('sha1').update(name).digest('hex').slice(0, 12)}/${number}`
}

async function makeBranch(work: Work, branch: string, head: Oid): Promise<void> {
  const { room, actor, project } = work
  const ref = branchRef(branch)
  if (ref === undefined || (await branchIn(work, branch)) !== undefined) return
  const mover = { actor, project, imports: true }
  await room.door.bringEach(mover, [{ ref, oldOid: zeroOid, newOid: head }], undefined)
}
