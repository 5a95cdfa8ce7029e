import type { Blob } from '../../blobs/index.ts'
import { readFileForm } from '../../kernel/endpoint/file-form.ts'
import type { RequestFacts } from '../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'

/** A form with an archive as its `file`. */
export interface ArchiveForm {
  /** Of the archive, which is stored. */
  readonly digest: string
  /** A field; undefined where there is nothing in it. 400 for what is no text. */
  text(name: string): string | undefined
  /** The same of a number by which something is known. */
  id(name: string): number | undefined
}

/** Stores the archive as it comes; 400 without one. */
export async function readArchiveForm(
  request: RequestFacts,
  put: (content: RequestFacts['body']) => Promise<Blob>,
): Promise<ArchiveForm> {
  const { file, fields } = await readFileForm(request, put)
  const text = (name: string): string | undefined => {
    const value = fields[name]
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' || value.includes('\0')) throw invalidParameters([`${name} is invalid`])
    return value
  }
  return {
    digest: file.stored.digest,
    text,
    id(name) {
      const value = text(name)
      if (value !== undefined && !/^\d{1,15}$/.test(value)) throw invalidParameters([`${name} is invalid`])
      return value === undefined ? undefined : Number(value)
    },
  }
}
