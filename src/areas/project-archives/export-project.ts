import { Readable } from 'node:stream'
import { bundleIn } from './bundles.ts'
import { fileRelations, filesOf } from './files.ts'
import { bundleNames, bundles, formatVersion, relations } from './format.ts'
import { linesOf, openFolder, packIn } from './pack.ts'
import { readProject, readRelation } from './read-project.ts'
import { sendArchive } from './send-archive.ts'
import { standIn } from './stand-in.ts'
import type { ArchiveRoom } from './services.ts'
import * as store from './store.ts'

const mebibyte = 1024 * 1024
export const tooLargeToExport = 'The project size exceeds the export limit.'

/** Writes a project to its archive. What goes wrong is told by the status; a further export begins anew. */
export async function exportProject(room: ArchiveRoom, projectId: number): Promise<void> {
  const { db, blobs, settings, log } = room
  const wanted = await store.startExport(db.writer, projectId)
  if (wanted === undefined) return
  try {
    const standing = await standIn(db, wanted.user_id, projectId)
    if (standing === undefined) throw new Error('Who asked for it may not have it any more.')
    await using folder = await openFolder(room.workplace)
    const packing = packIn(folder.path)
    await packing.add('VERSION', formatVersion)
    const project = await readProject(db.reader, projectId)
    await packing.add(
      'project.json',
      JSON.stringify({ ...project, description: wanted.description ?? project.description }),
    )
    for (const relation of relations) {
      const lines = Readable.from(linesOf(readRelation(db.reader, relation, projectId)))
      await packing.add(`tree/${relation}.ndjson`, lines)
    }
    for (const which of bundleNames) {
      const bundle = await bundleIn(room, standing.subject, which)
      if (bundle !== undefined) await packing.add(bundles[which], bundle)
    }
    for (const relation of fileRelations) {
      for (let after: number | undefined = 0; after !== undefined;) {
        const { files, next } = await filesOf(room, relation, projectId, after)
        for (const { name, size, open } of files) packing.addStored(name, size, open)
        after = next
      }
    }
    const limit = settings.values.max_export_size
    const stored = await blobs.put(
      packing.stream(),
      limit === 0 ? undefined : limit * mebibyte,
      () => new Error(tooLargeToExport),
    )
    if (wanted.upload !== null) await sendArchive(room, wanted.upload, stored)
    await store.endExport(db.writer, projectId, stored)
  } catch (error) {
    log.warn({ err: error, project: projectId }, 'a project could not be exported')
    await store.endExport(db.writer, projectId, { error: (error as Error).message.slice(0, 500) })
  }
}
