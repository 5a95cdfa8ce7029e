import { Readable } from 'node:stream'
import { linesOf, openFolder, packIn } from '../project-archives/index.ts'
import { fileOf, formatVersion, relations } from './format.ts'
import { readRelation } from './read.ts'
import { standIn, type GroupArchiveRoom } from './services.ts'
import * as store from './store.ts'

/** Writes a group, with all below it but its projects, to its archive. */
export async function exportGroup(room: GroupArchiveRoom, groupId: number): Promise<void> {
  const { db, blobs, log } = room
  const wanted = await store.waitingExport(db.writer, groupId)
  if (wanted === undefined) return
  try {
    if ((await standIn(db, wanted.user_id, groupId)) === undefined) {
      throw new Error('Who asked for it may not have it any more.')
    }
    await using folder = await openFolder(room.workplace)
    const packing = packIn(folder.path)
    await packing.add('VERSION', formatVersion)
    for (const relation of relations) {
      await packing.add(fileOf(relation), Readable.from(linesOf(readRelation(db.reader, relation, groupId))))
    }
    await store.endExport(db.writer, groupId, await blobs.put(packing.stream()))
  } catch (error) {
    log.warn({ err: error, group: groupId }, 'a group could not be exported')
    await store.endExport(db.writer, groupId, undefined)
  }
}
