import { sql } from '../../kernel/db/index.ts'
import {
  branchName,
  isZero,
  listCommitIds,
  type Oid,
  type RefUpdate,
  type Repository,
} from '../../git/index.ts'
import type { DomainEvent } from '../../tasks/index.ts'
import type { PushEvent } from '../repository/index.ts'
import { finishMerge, markMerged } from './merging/finish.ts'
import { lookAt } from './merging/look.ts'
import { findProjects } from './projects.ts'
import type { MergeRequestServices } from './services.ts'

/** Branches were moved: what is open from them gets a new version, and what is open into them is looked at anew. */
export async function onPush(
  services: MergeRequestServices,
  { projectId, userId, payload }: DomainEvent<PushEvent>,
): Promise<void> {
  if (projectId === null) return
  const moved = new Map<string, RefUpdate>()
  for (const update of payload.updates) {
    const branch = branchName(update.ref)
    if (branch !== undefined) moved.set(branch, update)
  }
  if (moved.size === 0) return
  for (const branch of await targetsAmong(services, projectId, [...moved.keys()]))
    await endMerges(services, projectId, branch, { ...moved.get(branch)!, userId })
  for (const id of await openFrom(services, projectId, [...moved.keys()])) await lookAt(services, id, userId)
}

/** Those of the branches that something open goes into. */
async function targetsAmong(
  { db }: MergeRequestServices,
  projectId: number,
  branches: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ branch: string }>`
    select distinct m.target_branch as branch from merge_requests m
    where m.project_id = ${projectId} and m.target_branch = any (${[...branches]}::text[])
      and m.state in ('opened', 'locked')`.execute(db.reader)
  return rows.map(({ branch }) => branch)
}

async function openFrom(
  { db }: MergeRequestServices,
  projectId: number,
  branches: readonly string[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select m.id from merge_requests m
    where m.source_project_id = ${projectId} and m.source_branch = any (${[...branches]}::text[])
      and m.state in ('opened', 'locked')
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
  { newOid: head, oldOid, userId }: RefUpdate & { readonly userId: number | null },
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
async function newCommits(repository: Repository, head: Oid, before: Oid): Promise<ReadonlySet<string>> {
  if (isZero(before)) return new Set()
  return new Set(await listCommitIds(repository, { revs: [head], not: [before], limit: mostCommits }))
}
