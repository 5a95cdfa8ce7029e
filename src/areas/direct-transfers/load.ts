import path from 'node:path'
import { isAdministrator } from '../../access/index.ts'
import { listRefs } from '../../git/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import * as groups from '../group-archives/index.ts'
import {
  bundles,
  localName,
  openFolder,
  takeCode,
  takers,
  takeWiki,
  type RecordFile,
  type Taken,
} from '../project-archives/index.ts'
import { isTree, members } from '../relation-exports/index.ts'
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
    await loadTree(room, step, source, folder.path)
    return
  }
  const wanted = { relation: fetchedFor(relation), number }
  const file = await fetchRecords(room, step, source, wanted, folder.path)
  signal.throwIfAborted()
  const taken: Taken = { failed: [], counts: {} }
  const records = { file, relation, taken, further: number > 1 }
  if (relation === members[kind]) {
    const standing = await (kind === 'group' ? standingInGroup(room, step) : standingInProject(room, step))
    await takeMembers(room, standing, records)
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
  const { actor, subject } = await standingInProject(room, step)
  const target = { projectId: subject.id, importerId: step.userId, asOthers: isAdministrator(actor) }
  return (tx) => takers[relation as keyof typeof takers](tx, target, records)
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

/** Branches and tags come in by the door for pushes, all or none; when they are there they have come before. */
async function loadTree(room: TransferRoom, step: Step, source: Source, folder: string): Promise<void> {
  const { relation, number } = step
  const which = relation === 'wiki' ? 'wiki' : 'project'
  const name = bundles[which]
  const wanted = { folder, known: new Set([name]) }
  const found = await fetchTree(room, step, source, { relation, number }, wanted)
  const standing = await standingInProject(room, step)
  const count = found.has(name) ? 1 : 0
  if (count > 0 && !(await isFilled(room, standing.subject, which))) {
    const file = path.join(folder, localName(name))
    if (which === 'wiki') await takeWiki(room, standing, file)
    else await takeCode(room, standing, file, standing.subject.defaultBranch ?? 'main')
  }
  await room.db.transaction((tx) => store.finish(tx, step, { fetched: count, imported: count }))
}

type Project = Awaited<ReturnType<typeof standingInProject>>['subject']

async function isFilled(
  { wikis, places }: TransferRoom,
  project: Project,
  which: 'project' | 'wiki',
): Promise<boolean> {
  if (which === 'project') return (await listRefs(places.of(project), project.refsVersion)).refs.length > 0
  const wiki = await wikis.of(project, { make: false })
  if (wiki === undefined) return false
  return (await listRefs(await wiki.open(), wiki.refsVersion)).refs.length > 0
}
