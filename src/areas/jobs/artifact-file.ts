import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { ArtifactFile } from '../pipelines/index.ts'
import { fileOf } from './archive.ts'
import { archiveOf } from './artifacts-store.ts'

/** Reads configurations that jobs have made. One that is too large comes without its end, for the reader to refuse. */
export function artifactFiles({ db, blobs }: { db: Database; blobs: Blobs }): ArtifactFile {
  return async (pipelineId, { job, path }, maximumBytes) => {
    const archive = await archiveOf(db.reader, pipelineId, job)
    if (archive === undefined) return { missing: 'job' }
    const file = await fileOf(blobs.path(archive.digest), path)
    if (file === undefined) return { failed: `The artifacts of the job \`${job}\` have no file \`${path}\`!` }
    const chunks: Buffer[] = []
    let size = 0
    // What an archive says of the size of a file need not be true.
    for await (const chunk of file.content as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      size += chunk.length
      if (size > maximumBytes) break
    }
    return { content: Buffer.concat(chunks).toString('utf8') }
  }
}
