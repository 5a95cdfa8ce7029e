import { buffer } from 'node:stream/consumers'
import type { Blobs } from '../../blobs/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { JobResults } from '../pipelines/index.ts'
import { fileOf } from './archive.ts'
import { readDotenv } from './artifact-rules.ts'
import { archiveOf } from './artifacts-store.ts'

/** Configurations and variables that jobs have made, for pipelines that come of them. */
export function jobResults({ db, blobs }: { db: Database; blobs: Blobs }): JobResults {
  return {
    /** One that is too large comes without its end, for the reader to refuse. */
    async file(pipelineId, { job, path }, maximumBytes) {
      const archive = await archiveOf(db.reader, pipelineId, job)
      if (archive === undefined) return { missing: 'job' }
      const file = await fileOf(blobs.path(archive.digest), path)
      if (file === undefined)
        return { failed: `The artifacts of the job \`${job}\` have no file \`${path}\`!` }
      const chunks: Buffer[] = []
      let size = 0
      // What an archive says of the size of a file need not be true.
      for await (const chunk of file.content as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        size += chunk.length
        if (size > maximumBytes) break
      }
      return { content: Buffer.concat(chunks).toString('utf8') }
    },

    async dotenv(digests) {
      const lists = await Promise.all(
        digests.map(async (digest) => readDotenv(await buffer(blobs.read(digest)))),
      )
      return lists.flat()
    },
  }
}
