import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Blob, Blobs } from '../../blobs/index.ts'
import { hasControlCharacters } from '../../kernel/lib/control-characters.ts'
import { filesBelow } from '../jobs/index.ts'
import { DeployProblem } from './problem.ts'

/** Where a file lies in the content of its deployment. */
export interface SiteFile {
  readonly path: string
  readonly start: number
  readonly size: number
  readonly digest: string
}

export interface Packed extends Blob {
  readonly files: readonly SiteFile[]
}

export const mostFiles = 200_000
/** In bytes, as an index takes them. */
const longestPath = 1024

/**
 * Puts the files of a folder of an archive behind one another into one content: nothing is unpacked, so links and paths
 * that lead elsewhere lead nowhere. `limit`: bytes of all files together.
 */
export async function packSite(
  blobs: Blobs,
  archive: string,
  folder: string,
  limit: number,
): Promise<Packed> {
  const files: SiteFile[] = []
  const stored = await blobs.put(Readable.from(contents(archive, folder, limit, files)))
  return { ...stored, files }
}

async function* contents(
  archive: string,
  folder: string,
  limit: number,
  files: SiteFile[],
): AsyncGenerator<Buffer> {
  const seen = new Set<string>()
  let end = 0
  for await (const { path, content } of readable(filesBelow(archive, folder))) {
    if (path === '' || seen.has(path)) continue
    if (hasControlCharacters(path) || Buffer.byteLength(path) > longestPath)
      throw new DeployProblem(`the name of a file is too long or has a control character`)
    if (files.length === mostFiles) throw new DeployProblem(`there are more than ${mostFiles} files`)
    seen.add(path)
    const start = end
    const hash = createHash('sha256')
    for await (const chunk of readable<Buffer>(await content())) {
      end += chunk.length
      if (end > limit) throw new DeployProblem(`the site is larger than ${limit} bytes`)
      hash.update(chunk)
      yield chunk
    }
    files.push({ path, start, size: end - start, digest: hash.digest('hex') })
  }
  if (files.length === 0) throw new DeployProblem(`there are no files in the folder ${folder}`)
}

/** What is wrong with an archive is the job's fault, not ours. */
async function* readable<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source
  } catch (error) {
    if (error instanceof DeployProblem) throw error
    throw new DeployProblem('the archive of the artifacts cannot be read')
  }
}
