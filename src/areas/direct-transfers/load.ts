import { isAdministrator } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import * as groups from '../group-archives/index.ts'
import {
  bundles,
  isFileOf,
  linksIn,
  openFolder,
  takeBundle,
  takeFiles,
  takeMergeRequests,
  takers,
  type FileRelation,
  type RecordFile,
  type Taken,
  type Target,
} from '../project-archives/index.ts'
import { isFiles, isTree, members, trees, type TreeName } from '../relation-exports/index.ts'
import { fetchRecords, fetchTree } from './fetch.ts'
import { takeMembers } from './members.ts'
import { epicParents, fetchedFor } from './relations.ts'
import type { TransferRoom } from './services.ts'
import type { Source } from './source.ts'
import { standingInGroup, standingInProject } from './standing.ts'
import * as store from './step-store.ts'
import type { Failure, Step } from './step-store.ts'

/** Records that could not be taken, of which it is told. */
const mostFailed = 100

/** Fetches a file of a relation and takes what is in it, together with the news that this is done. */
export async function load(
  room: TransferRoom,
  step: Step,
  source: Source,
  signal: AbortSignal,
): Promise<void> {
  const { db } = room
  const { relation, number, kind } = step
  await using folder = await openFolder(room.workplace)
  if (isTree(relation)) {
    await loadTree(room, step, source, { tree: relation, folder: folder.path })
    return
  }
  if (isFiles(relation)) {
    await loadFiles(room, step, source, { relation, folder: folder.path })
    return
  }
  const wanted = { relation: fetchedFor(relation), number }
  const file = await fetchRecords(room, step, source, wanted, folder.path)
  signal.throwIfAborted()
  const taken: Taken = { failed: [], counts: {} }
  const relink = step.projectId === null ? undefined : linksIn(room, step.projectId)
  const records = { file, relation, taken, further: number > 1, relink }
  if (relation === members[kind]) {
    const standing = await (kind === 'group' ? standingInGroup(room, step) : standingInProject(room, step))
    await takeMembers(room, standing, records)
    await db.transaction((tx) => end(tx, step, taken))
    return
  }
  if (relation === 'merge_requests') {
    const standing = await standingInProject(room, step)
    await takeMergeRequests(room, standing, targetOf(step, standing), records, signal)
    await db.transaction((tx) => end(tx, step, taken))
    return
  }
  const take = await takerOf(room, step, records)
  await db.transaction(async (tx) => {
    await take(tx)
    await end(tx, step, taken)
  })
}

async function takerOf(
  room: TransferRoom,
  step: Step,
  records: RecordFile,
): Promise<(tx: Tx) => Promise<void>> {
  const { relation } = step
  if (step.kind === 'group') {
    const { actor, subject } = await standingInGroup(room, step)
    const target = {
      groups: new Map([['', subject.id]]),
      importerId: step.userId,
      asOthers: isAdministrator(actor),
    }
    return (tx) => groups.takers[relation as keyof typeof groups.takers](tx, target, records)
  }
  const target = targetOf(step, await standingInProject(room, step))
  return (tx) => takers[relation as keyof typeof takers](tx, target, records)
}

type ProjectStanding = Awaited<ReturnType<typeof standingInProject>>

function targetOf({ userId }: Step, { actor, subject }: ProjectStanding): Target {
  return { projectId: subject.id, importerId: userId, asOthers: isAdministrator(actor) }
}

async function end(tx: Tx, step: Step, { failed, counts }: Taken): Promise<void> {
  const { relation } = step
  const { fetched, imported } = counts[relation] ?? { fetched: 0, imported: 0 }
  // They were counted, and told of, as epics.
  const again = relation === epicParents
  const failures = again ? [] : failed.slice(0, mostFailed)
  await store.addFailures(
    tx,
    step,
    failures.map(({ line, exception_message: text }): Failure => ({
      relation,
      step: 'transformer',
      exception_class: 'RecordFault',
      exception_message: `record ${line}: ${text}`,
    })),
  )
  await store.finish(tx, step, again ? { fetched: 0, imported: 0 } : { fetched, imported })
}

/** Uploads, or large files. */
async function loadFiles(
  room: TransferRoom,
  step: Step,
  source: Source,
  { relation, folder }: { readonly relation: FileRelation; readonly folder: string },
): Promise<void> {
  const known = (name: string) => isFileOf(relation, name)
  const found = await fetchTree(room, step, source, { relation, number: step.number }, { folder, known })
  const taken: Taken = { failed: [], counts: {} }
  const target = targetOf(step, await standingInProject(room, step))
  await takeFiles(room, relation, target, found, taken)
  await room.db.transaction((tx) => end(tx, step, taken))
}

/** What has come before, until a crash, stays as it is. */
async function loadTree(
  room: TransferRoom,
  step: Step,
  source: Source,
  { tree, folder }: { readonly tree: TreeName; readonly folder: string },
): Promise<void> {
  const { relation, number } = step
  const which = trees[tree]
  const name = bundles[which]
  const wanted = { folder, known: (each: string) => each === name }
  const found = await fetchTree(room, step, source, { relation, number }, wanted)
  const standing = await standingInProject(room, step)
  const file = found.get(name)
  const count = file === undefined ? 0 : 1
  if (file !== undefined) {
    const defaultBranch = standing.subject.defaultBranch ?? 'main'
    await takeBundle(room, standing, which, { file, defaultBranch })
  }
  await room.db.transaction((tx) => store.finish(tx, step, { fetched: count, imported: count }))
}
