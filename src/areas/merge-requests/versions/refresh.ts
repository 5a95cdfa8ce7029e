import { sql } from 'kysely'
import type { Oid } from '../../../git/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { lapsingApprovals, resetAfterPush } from '../approvals/reset.ts'
import { headIn } from '../branches.ts'
import { webUrl } from '../entities.ts'
import { announce } from '../news.ts'
import { findProjects } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { broughtCommits, tellOf, told, toldOfPush, toldOfSource } from '../system-notes.ts'
import { pipelineTask } from '../tasks.ts'
import { computeVersion } from './compute.ts'
import { bringCommits } from './forks.ts'
import { keepCommits, pointRequestRef } from './refs.ts'

export interface Refreshing {
  /** Who pushed. */
  readonly by: number | null
  /** A new version also when the source has not moved: the target is another one. */
  readonly anew?: boolean
}

/**
 * Brings an open request up to date with its branches: where its source was pushed it gets a new version, and all that
 * was said of the old one is looked at again. Done twice it does nothing more, so it may be asked for at any time, by
 * several at once. Gives the request as it is then.
 */
export async function refreshMergeRequest(
  services: MergeRequestServices,
  id: number,
  { by, anew = false }: Refreshing,
): Promise<MergeRequestRow | undefined> {
  const { db, places, settings } = services
  const row = await store.find(db.writer, id)
  if (row === undefined || row.state !== 'opened') return row
  const projects = await findProjects(db.writer, [row.project_id, row.source_project_id])
  const target = projects.get(row.project_id)
  if (target === undefined) return row
  const source = projects.get(row.source_project_id ?? 0)
  const head = source && (await headIn(places, source, row.source_branch))
  if (source === undefined || head === undefined) {
    if (!row.source_gone) await setGone(services, row, true, by)
    return store.find(db.writer, id)
  }
  if (head === row.head_sha && !anew) {
    if (row.source_gone) await setGone(services, row, false, by)
    await pointRequestRef(services, target, row.iid, 'head', head)
    return store.find(db.writer, id)
  }
  const start = (await headIn(places, target, row.target_branch)) ?? (row.start_sha as Oid)
  await bringCommits(services, source, target, head)
  const version = await computeVersion(places.of(target), { head, start }, settings.values.diff_max_files)
  await keepCommits(services, target, [version.head, version.base, version.start])
  const brought = await broughtCommits(places.of(target), head, [row.head_sha as Oid, start])
  const lapsing = await lapsingApprovals(services, target, row, head)
  await db.transaction(async (tx) => {
    const now = await store.lock(tx, id)
    // Somebody else was faster.
    if (now === undefined || now.state !== 'opened' || now.version_id !== row.version_id) return
    await store.addVersion(tx, id, version)
    if (head === now.head_sha) {
      await announce(services, tx, now, by, { action: 'retarget' })
      return
    }
    const compareUrl = `${webUrl(row, services.externalUrl())}/diffs?start_sha=${row.head_sha}`
    await tellOf(tx, now, by, toldOfPush(brought, compareUrl))
    if (now.auto_merge) await tellOf(tx, now, by, [told.mergeAborted])
    await resetAfterPush(tx, now, lapsing)
    const commits = version.commitsCount
    await announce(services, tx, now, by, { action: 'push', oldHead: now.head_sha, commits })
    await enqueue(tx, pipelineTask, { id, user: by })
  })
  await pointRequestRef(services, target, row.iid, 'head', head)
  return store.find(db.writer, id)
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
