import { sql } from 'kysely'
import {
  branchName,
  isZero,
  listCommitIds,
  parseOid,
  parseRefName,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent } from '../repository/index.ts'
import { finishMerge, markMerged } from './merging/finish.ts'
import { lookAt } from './merging/look.ts'
import { findProjects } from './projects.ts'
import type { MergeRequestServices } from './services.ts'

/** A branch was moved: what is open from it gets a new version, and what is open into it is looked at anew. */
export async function onPush(services: MergeRequestServices, event: DomainEvent<PushEvent>): Promise<void> {
  const { ref, oldOid, newOid } = event.payload
  const refName = parseRefName(ref)
  const branch = refName && branchName(refName)
  const head = parseOid(newOid)
  if (branch === undefined || head === undefined || event.projectId === null) return
  await endMerges(services, event.projectId, branch, { head, oldOid, userId: event.userId })
  for (const id of await openFrom(services, event.projectId, branch)) {
    await lookAt(services, id, event.userId)
  }
}

async function openFrom({ db }: MergeRequestServices, projectId: number, branch: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select m.id from merge_requests m
    where m.source_project_id = ${projectId} and m.source_branch = ${branch} and m.state in ('opened', 'locked')
    order by m.id`.execute(db.reader)
  return rows.map(({ id }) => id)
}

/**
 * What the new head of a target branch means for requests into it: merges that are under way have arrived, requests
 * whose commits somebody pushed there by hand are merged too, and of the rest nobody knows whether they still fit.
 */
async function endMerges(
  services: MergeRequestServices,
  projectId: number,
  branch: string,
  { head, oldOid, userId }: { head: Oid; oldOid: string; userId: number | null },
): Promise<void> {
  const { db, places } = services
  if (isZero(head)) return
  const { rows } = await sql<{ id: number; merging_sha: string | null; head_sha: string; state: string }>`
    select m.id, m.merging_sha, m.head_sha, m.state from merge_requests m
    where m.project_id = ${projectId} and m.target_branch = ${branch} and m.state in ('opened', 'locked')
      and (m.state = 'locked' or m.head_sha is distinct from m.base_sha)
    order by m.id`.execute(db.reader)
  if (rows.length === 0) return
  const target = (await findProjects(db.reader, [projectId])).get(projectId)
  if (target === undefined) return
  const brought = await newCommits(places.of(target), head, oldOid)
  for (const { id, merging_sha, head_sha, state } of rows) {
    if (state === 'locked' && merging_sha !== null && brought.has(merging_sha))
      await finishMerge(services, id)
    if (state === 'opened' && brought.has(head_sha))
      await markMerged(services, id, { by: userId, head: head_sha })
  }
  await sql`
    update merge_requests set merge_status = 'unchecked'
    where project_id = ${projectId} and target_branch = ${branch} and state = 'opened'
      and merge_status <> 'unchecked' and checked_target is distinct from ${head}`.execute(db.writer)
}

/** A push brings no more than that to be looked through. */
const mostCommits = 20_000

/** What a branch has that it had not before; of a new branch nothing is said. */
async function newCommits(repository: Repository, head: Oid, oldOid: string): Promise<ReadonlySet<string>> {
  const before = parseOid(oldOid)
  if (before === undefined || isZero(before)) return new Set()
  return new Set(await listCommitIds(repository, { revs: [head], not: [before], limit: mostCommits }))
}
