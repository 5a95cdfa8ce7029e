import {
  branchName,
  branchRef,
  countCommits,
  findCommit,
  findTag,
  isZero,
  resolve,
  tagName,
  type RefUpdate,
  type Repository,
} from '../../git/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent } from '../repository/index.ts'
import type { PushData } from './entities.ts'
import type { ActivityServices } from './index.ts'

const mostCounted = 10_000

const doneTo = ({ oldOid, newOid }: RefUpdate): string =>
  isZero(oldOid) ? 'created' : isZero(newOid) ? 'removed' : 'pushed'
const typeOf = ({ ref }: RefUpdate): string | undefined =>
  branchName(ref) !== undefined ? 'branch' : tagName(ref) !== undefined ? 'tag' : undefined

/**
 * What is listed of the refs that a push moved, in their order. Where it does the same to more refs than the limit one
 * line tells for all of them, in the first one's place.
 */
export async function pushesOf(
  { db, places, settings }: ActivityServices,
  { payload, projectId }: DomainEvent<PushEvent>,
): Promise<PushData[]> {
  if (projectId === null) return []
  const project = await db.reader
    .selectFrom('projects as p')
    .select(['p.storage', 'p.default_branch'])
    .where('p.id', '=', projectId)
    .executeTakeFirst()
  if (project === undefined) return []
  const repository = places.of({ id: projectId, storage: project.storage })
  const alike = Map.groupBy(
    payload.updates.filter((update) => typeOf(update) !== undefined),
    (update) => `${doneTo(update)} ${typeOf(update)}`,
  )
  const found: PushData[] = []
  for (const group of alike.values()) {
    if (group.length > settings.values.push_event_activities_limit) found.push(together(group))
    else for (const update of group) found.push(await single(repository, project.default_branch, update))
  }
  return found
}

function together(updates: readonly RefUpdate[]): PushData {
  const none = { commit_from: null, commit_to: null, ref: null, commit_title: null }
  const [first] = updates
  return {
    commit_count: 0,
    action: doneTo(first!),
    ref_type: typeOf(first!)!,
    ...none,
    ref_count: updates.length,
  }
}

async function single(
  repository: Repository,
  defaultBranch: string | null,
  update: RefUpdate,
): Promise<PushData> {
  const { ref, oldOid: from, newOid: to } = update
  const head = isZero(to) ? undefined : ((await findTag(repository, to))?.target ?? to)
  const commit = head && (await findCommit(repository, head))
  const main = defaultBranch === null ? undefined : branchRef(defaultBranch)
  const base = isZero(from) ? main && main !== ref && (await resolve(repository, main)) : from
  const counted = branchName(ref) !== undefined && commit !== undefined
  return {
    commit_count: counted
      ? await countCommits(repository, { revs: [commit.oid], not: base ? [base] : [] }, mostCounted)
      : 0,
    action: doneTo(update),
    ref_type: typeOf(update)!,
    commit_from: isZero(from) ? null : from,
    commit_to: isZero(to) ? null : to,
    ref: branchName(ref) ?? tagName(ref) ?? null,
    commit_title: commit?.title ?? null,
    ref_count: null,
  }
}
