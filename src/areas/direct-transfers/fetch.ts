import { createReadStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { gunzipTo, unpack } from '../project-archives/index.ts'
import type { TransferRoom } from './services.ts'
import type { Source } from './source.ts'
import type { Step } from './step-store.ts'

const mebibyte = 1024 * 1024

interface Wanted {
  readonly relation: string
  readonly number: number
}

/** Fetches a relation into the folder, no more of it than the settings allow. */
async function fetchFile(
  { settings }: TransferRoom,
  { kind, sourceId }: Step,
  source: Source,
  wanted: Wanted,
  folder: string,
): Promise<string> {
  const file = path.join(folder, 'fetched')
  const limit = settings.values.bulk_import_max_download_file_size
  await source.download(kind, sourceId!, wanted, file, limit === 0 ? undefined : limit * mebibyte)
  return file
}

function bounds({ settings }: TransferRoom): { size: number | undefined; time: number | undefined } {
  const { max_decompressed_archive_size: size, decompress_archive_file_timeout: seconds } = settings.values
  return {
    size: size === 0 ? undefined : size * mebibyte,
    time: seconds === 0 ? undefined : seconds * 1000,
  }
}

/** The file of its records, a line each. */
export async function fetchRecords(
  room: TransferRoom,
  step: Step,
  source: Source,
  wanted: Wanted,
  folder: string,
): Promise<string> {
  const fetched = await fetchFile(room, step, source, wanted, folder)
  const file = path.join(folder, 'records')
  await gunzipTo(createReadStream(fetched), file, bounds(room))
  await rm(fetched)
  return file
}

/** Files with such names that were in its archive, by their names. */
export async function fetchTree(
  room: TransferRoom,
  step: Step,
  source: Source,
  wanted: Wanted,
  { folder, known }: { readonly folder: string; readonly known: (name: string) => boolean },
): Promise<ReadonlyMap<string, string>> {
  const fetched = await fetchFile(room, step, source, wanted, folder)
  const found = await unpack(createReadStream(fetched), folder, { known, ...bounds(room) })
  await rm(fetched)
  return found
}

/** Bytes of a record that is read at once. */
const longestRecord = 1024 * 1024

/** The one record of a relation that has one; undefined where it is not usable. */
export async function readSingle(file: string): Promise<unknown> {
  const content = await readFile(file)
  if (content.length > longestRecord) return undefined
  try {
    return JSON.parse(content.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
