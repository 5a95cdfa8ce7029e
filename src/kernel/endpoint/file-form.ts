import type { Readable } from 'node:stream'
import { invalidParameters } from '../errors/index.ts'
import { readForm } from './bag.ts'
import type { RequestFacts } from './endpoint.ts'
import { UploadedFile } from './types.ts'

export interface FileForm<Stored> {
  readonly file: UploadedFile<Stored>
  /** All that was sent. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** Reads a form with one `file`, which `put` stores as it comes; 400 without one. `fileBytes`: 413 for a larger one. */
export async function readFileForm<Stored>(
  { body, headers }: Pick<RequestFacts, 'body' | 'headers'>,
  put: (content: Readable) => Promise<Stored>,
  { fileBytes }: { readonly fileBytes?: number } = {},
): Promise<FileForm<Stored>> {
  let taken = false
  const sent = await readForm(Object.assign(body, { headers }), {
    takeFile(name, content) {
      if (name !== 'file' || taken) return undefined
      taken = true
      return put(content)
    },
    ...(fileBytes !== undefined && { fileBytes }),
    parts: 20,
  })
  const fields = sent ?? {}
  const { file } = fields
  if (file === undefined) throw invalidParameters(['file is missing'])
  if (!(file instanceof UploadedFile)) throw invalidParameters(['file is invalid'])
  return { file: file as UploadedFile<Stored>, fields }
}
