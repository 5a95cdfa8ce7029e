import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Blob } from '../../blobs/index.ts'
import * as groups from '../group-archives/index.ts'
import * as projects from '../project-archives/index.ts'
import { ApiError } from '../../kernel/errors/index.ts'
import { linesOf, openFolder, packIn, readProject } from '../project-archives/index.ts'
import {
  batchSize,
  idsBehind,
  isFiles,
  isRecords,
  isTree,
  members,
  projectFormat,
  self,
  trees,
  type TreeName,
} from './relations.ts'
import type { RelationExportRoom } from './services.ts'
import * as store from './store.ts'
import type { Batch } from './store.ts'

/** Times that a file is begun; what has ended the service each time is not tried for ever. */
const mostAttempts = 5
const notAllowed = 'Who asked for it may not have it any more.'

/** Writes one file. What goes wrong is told by its status; throws when it was interrupted. */
export async function writeBatch(room: RelationExportRoom, batch: Batch, signal: AbortSignal): Promise<void> {
  const { db, blobs, log } = room
  try {
    if (batch.attempts > mostAttempts) throw new Error('It was interrupted too often.')
    const written = await write(room, batch, signal)
    await store.finish(db, blobs, batch, written)
  } catch (error) {
    if (signal.aborted || isPassing(error)) throw error
    log.warn({ err: error, relation: batch.relation, export: batch.exportId }, 'a relation was not exported')
    await store.fail(db.writer, batch, (error as Error).message.slice(0, 500))
  }
}

/** The same content was being removed, since an older export had it; it is written again. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503
}

interface Written {
  readonly objects: number
  readonly file: Blob
}

async function write(room: RelationExportRoom, batch: Batch, signal: AbortSignal): Promise<Written> {
  const { db } = room
  const { kind, relation, placeId } = batch
  if (isTree(relation)) return writeTree(room, batch, relation, signal)
  if (isFiles(relation)) return writeFiles(room, batch, relation, signal)
  if ((await standIn(room, batch)) === undefined) throw new Error(notAllowed)
  if (relation === self) return writeRecords(room, selfOf(room, batch), signal)
  if (relation === members[kind]) {
    return writeRecords(room, store.readMembers(db.reader, kind, placeId), signal)
  }
  if (!isRecords(kind, relation)) throw new Error('There is no such relation.')
  return writeRecords(room, recordsOf(room, batch, await rangeOf(room, batch)), signal)
}

function standIn({ db }: RelationExportRoom, { kind, placeId, userId }: Batch): Promise<object | undefined> {
  return kind === 'project' ? projects.standIn(db, userId, placeId) : groups.standIn(db, userId, placeId)
}

interface Range {
  readonly after: number
  readonly upTo?: number
}

/** Which records are in this file; what is behind them goes into the next one, which may be begun at once. */
async function rangeOf({ db }: RelationExportRoom, batch: Batch): Promise<Range> {
  const { after, batched, kind, relation, placeId } = batch
  if (!batched) return { after }
  const limit = batchSize + 1
  const ids = await idsBehind[kind](db.reader, relation as never, placeId, { after, limit })
  if (ids.length < limit) return { after }
  const upTo = ids[batchSize - 1]!
  await store.addNext(db.writer, batch, upTo)
  return { after, upTo }
}

function recordsOf(
  { db }: RelationExportRoom,
  { kind, relation, placeId }: Batch,
  range: Range,
): AsyncIterable<unknown> {
  return kind === 'project'
    ? projects.readRelation(db.reader, relation as projects.RelationName, placeId, range)
    : groups.readRelation(db.reader, relation as groups.RelationName, placeId, { ...range, alone: true })
}

/** The place itself, and the version of the format that all its files are in. */
async function* selfOf({ db }: RelationExportRoom, { kind, placeId }: Batch): AsyncGenerator<object> {
  if (kind === 'project') {
    yield { format: projectFormat, ...(await readProject(db.reader, placeId)) }
    return
  }
  for await (const record of groups.readRelation(db.reader, 'groups', placeId, { alone: true, after: 0 })) {
    yield { format: groups.formatVersion, ...record }
  }
}

async function writeRecords(
  { blobs }: RelationExportRoom,
  records: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<Written> {
  let objects = 0
  async function* counted(): AsyncGenerator {
    for await (const record of records) {
      signal.throwIfAborted()
      objects += 1
      yield record
    }
  }
  const lines = Readable.from(linesOf(counted()))
  const gzip = createGzip()
  lines.on('error', (error) => gzip.destroy(error))
  const file = await blobs.put(lines.pipe(gzip))
  return { objects, file }
}

/** Files that are stored beside the project; with batches some at a time. */
async function writeFiles(
  room: RelationExportRoom,
  batch: Batch,
  relation: projects.FileRelation,
  signal: AbortSignal,
): Promise<Written> {
  const { db, blobs } = room
  const { after, batched, placeId } = batch
  if ((await standIn(room, batch)) === undefined) throw new Error(notAllowed)
  await using folder = await openFolder(room.workplace)
  const packing = packIn(folder.path)
  let objects = 0
  for (let place: number | undefined = after; place !== undefined;) {
    const { files, next } = await projects.filesOf(room, relation, placeId, place)
    for (const { name, size, open } of files) packing.addStored(name, size, open)
    objects += files.length
    signal.throwIfAborted()
    if (batched && next !== undefined) await store.addNext(db.writer, batch, next)
    place = batched ? undefined : next
  }
  return { objects, file: await blobs.put(packing.stream()) }
}

/** What there is of it in a bundle; without anything the archive is empty. */
async function writeTree(
  room: RelationExportRoom,
  { userId, placeId }: Batch,
  tree: TreeName,
  signal: AbortSignal,
): Promise<Written> {
  const standing = await projects.standIn(room.db, userId, placeId)
  if (standing === undefined) throw new Error(notAllowed)
  await using folder = await openFolder(room.workplace)
  const packing = packIn(folder.path)
  const which = trees[tree]
  const bundle = await projects.bundleIn(room, standing.subject, which)
  if (bundle !== undefined) await packing.add(projects.bundles[which], bundle)
  signal.throwIfAborted()
  return { objects: bundle === undefined ? 0 : 1, file: await room.blobs.put(packing.stream()) }
}
