import type { Blob } from '../../blobs/index.ts'
import { UploadedFile, type RequestFacts } from '../../kernel/endpoint/index.ts'
import { readForm } from '../../kernel/endpoint/bag.ts'
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
  { body, headers }: RequestFacts,
  put: (content: RequestFacts['body']) => Promise<Blob>,
): Promise<ArchiveForm> {
  let taken = false
  const sent = await readForm(Object.assign(body, { headers }), {
    takeFile(name, content) {
      if (name !== 'file' || taken) return undefined
      taken = true
      return put(content)
    },
    parts: 20,
  })
  const form = sent ?? {}
  const { file } = form
  if (!(file instanceof UploadedFile))
    throw invalidParameters([`file is ${file === undefined ? 'missing' : 'invalid'}`])
  const text = (name: string): string | undefined => {
    const value = form[name]
    if (value === undefined || value === '') return undefined
    if (typeof value !== 'string' || value.includes('\0')) throw invalidParameters([`${name} is invalid`])
    return value
  }
  return {
    digest: (file as UploadedFile<Blob>).stored.digest,
    text,
    id(name) {
      const value = text(name)
      if (value !== undefined && !/^\d{1,15}$/.test(value)) throw invalidParameters([`${name} is invalid`])
      return value === undefined ? undefined : Number(value)
    },
  }
}
