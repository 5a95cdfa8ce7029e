import { sql } from '../../../kernel/db/index.ts'
import { branchRef, zeroOid, type Oid } from '../../../git/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { bringCommits, whoMoved } from '../../repository/index.ts'
import { lapsingApprovals, resetAfterPush, resetApprovals } from '../approvals/reset.ts'
import { headIn } from '../branches.ts'
import { webUrl } from '../entities.ts'
import { announce } from '../news.ts'
import { findProjects, type RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { broughtCommits, tellOf, told, toldOfPush, toldOfSource } from '../system-notes.ts'
import { pipelineTask } from '../tasks.ts'
import { withCommitters } from './committers.ts'
import { computeVersion } from './compute.ts'
import { keepCommits, pointRequestRef } from './refs.ts'

export interface Refreshing {
  /** Who pushed; null where that is not known: it is looked up then. */
  readonly by: number | null
  /** A new version also when the source has not moved: the target is another one. */
  readonly anew?: boolean
}

/** How often a request is looked at again because somebody else gave it a version meanwhile. */
const attempts = 8

/**
 * Brings an open request up to date with its branches: where its source was pushed it gets a new version, and all that
 * was said of the old one is looked at again. Done twice it does nothing more, so it may be asked for at any time, by
 * several at once. Gives the request as it is then.
 */
export async function refreshMergeRequest(
  services: MergeRequestServices,
  id: number,
  refreshing: Refreshing,
): Promise<MergeRequestRow | undefined> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const row = await store.find(services.db.writer, id)
    if (row === undefined || row.state !== 'opened') return row
    if (await refresh(services, row, refreshing)) break
  }
  return store.find(services.db.writer, id)
}

/** False: another version came meanwhile, which may be of an older head. */
async function refresh(
  services: MergeRequestServices,
  row: MergeRequestRow,
  { by: known, anew = false }: Refreshing,
): Promise<boolean> {
  const { db, places, settings } = services
  const { id } = row
  const projects = await findProjects(db.writer, [row.project_id, row.source_project_id])
  const target = projects.get(row.project_id)
  if (target === undefined) return true
  const source = projects.get(row.source_project_id ?? 0)
  const head = source && (await headIn(places, source, row.source_branch))
  if (source === undefined || head === undefined) {
    if (!row.source_gone) await setGone(services, row, true, known ?? (await moverOf(services, row, zeroOid)))
    return true
  }
  if (head === row.head_sha && !anew) {
    if (row.source_gone) await setGone(services, row, false, known ?? (await moverOf(services, row, head)))
    await pointHead(services, target, id)
    return true
  }
  const start = (await headIn(places, target, row.target_branch)) ?? (row.start_sha as Oid)
  await bringCommits(services, source, target, head)
  const computed = await computeVersion(places.of(target), { head, start }, settings.values.diff_max_files)
  const version = await withCommitters(services, computed)
  await keepCommits(services, target, [version.head, version.base, version.start])
  const brought = await broughtCommits(places.of(target), head, [row.head_sha as Oid, start])
  const by = known ?? (await moverOf(services, row, head))
  const lapsing = await lapsingApprovals(services, target, row, version)
  const taken = await db.transaction(async (tx) => {
    const now = await store.lock(tx, id)
    if (now === undefined || now.state !== 'opened') return true
    if (now.version_id !== row.version_id) return false
    await store.addVersion(tx, id, version)
    if (head === now.head_sha) {
      await resetApprovals(tx, id, lapsing)
      await announce(services, tx, now, by, { action: 'retarget' })
      return true
    }
    const compareUrl = `${webUrl(row, services.externalUrl())}/diffs?start_sha=${row.head_sha}`
    await tellOf(tx, now, by, toldOfPush(brought, compareUrl))
    if (now.auto_merge) await tellOf(tx, now, by, [told.mergeAborted])
    await resetAfterPush(tx, now, lapsing)
    const commits = version.commitsCount
    await announce(services, tx, now, by, { action: 'push', oldHead: now.head_sha, commits })
    await enqueue(tx, pipelineTask, { id, user: by })
    return true
  })
  if (taken) await pointHead(services, target, id)
  return taken
}

/** Who moved the source branch of a request to this. */
async function moverOf(
  { db }: MergeRequestServices,
  { source_project_id: project, source_branch: branch }: MergeRequestRow,
  newOid: Oid,
): Promise<number | null> {
  const ref = branchRef(branch)
  return project === null || ref === undefined ? null : whoMoved(db.writer, project, { ref, newOid })
}

/** Points the ref of a request at its head; also at a newer one that came while it did so. */
async function pointHead(services: MergeRequestServices, target: RequestProject, id: number): Promise<void> {
  let row = await store.find(services.db.writer, id)
  for (let attempt = 1; row !== undefined && attempt <= attempts; attempt += 1) {
    const head: string = row.head_sha
    await pointRequestRef(services, target, row.iid, 'head', head as Oid)
    row = await store.find(services.db.writer, id)
    if (row?.head_sha === head) return
  }
}

async function setGone(
  { db }: MergeRequestServices,
  row: MergeRequestRow,
  gone: boolean,
  by: number | null,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql`
      update merge_requests set source_gone = ${gone}
      where id = ${row.id} and state = 'opened' and source_gone <> ${gone} returning id`.execute(tx)
    if (rows.length > 0) await tellOf(tx, row, by, [toldOfSource(row.source_branch, gone)])
  })
}
