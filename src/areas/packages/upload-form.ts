import type { Readable } from 'node:stream'
import { removeUnused } from '../../blobs/index.ts'
import { UploadedFile, type RequestFacts } from '../../kernel/endpoint/index.ts'
import { readMultipart } from '../../kernel/endpoint/multipart.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'
import { checkLength, takeContent, type StoredFile } from './content.ts'
import type { Registry } from './formats.ts'

export interface UploadForm {
  readonly fields: Readonly<Record<string, unknown>>
  readonly file: UploadedFile<StoredFile>
}

/** Bytes of a form besides its file. */
const overhead = 2 * 1024 * 1024

/**
 * Reads a form with one file, which goes into the store as it comes, and looks into both. What is refused, by the form
 * or by `look`, leaves no content behind.
 */
export async function takeForm<T>(
  registry: Registry,
  request: RequestFacts,
  name: string,
  limit: number,
  look: (form: UploadForm) => T | Promise<T>,
): Promise<T> {
  checkLength(request, limit === 0 ? 0 : limit + overhead)
  const digests: string[] = []
  const take = async (content: Readable): Promise<StoredFile> => {
    const stored = await takeContent(registry.blobs, content, limit)
    digests.push(stored.digest)
    return stored
  }
  try {
    const fields = await readMultipart(Object.assign(request.body, { headers: request.headers }), {
      takeFile: (field, content) => (field === name && digests.length === 0 ? take(content) : undefined),
      parts: 1000,
    })
    const file = fields[name]
    if (!(file instanceof UploadedFile)) throw invalidParameters([`${name} is missing`])
    return await look({ fields, file: file as UploadedFile<StoredFile> })
  } catch (error) {
    await discard(registry, digests)
    throw error
  }
}

/** Removes content that came with what was refused. */
export function discard({ db, blobs }: Registry, digests: readonly string[]): Promise<void> {
  return removeUnused(db, blobs, 'package_files', digests)
}
