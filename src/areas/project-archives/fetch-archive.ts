import type { ArchiveRoom } from './services.ts'
import { ArchiveFault } from './unpack.ts'

const mebibyte = 1024 * 1024
/** Milliseconds for the whole file. */
const patience = 3_600_000

type FetchRoom = Pick<ArchiveRoom, 'outbound' | 'settings' | 'blobs'>

function limitOf({ settings }: Pick<ArchiveRoom, 'settings'>): number | undefined {
  const { max_import_remote_file_size: limit } = settings.values
  return limit === 0 ? undefined : limit * mebibyte
}

/** What speaks against fetching an archive, as far as the other side tells before it sends it. */
export async function remoteProblem(room: FetchRoom, url: string): Promise<string | undefined> {
  const got = await room.outbound.stream(url, { timeout: 30_000 }, async ({ status, length }) => ({
    status,
    length,
  }))
  if ('blocked' in got) return `is blocked: ${got.blocked}`
  if ('failed' in got) return 'could not be reached'
  if (got.status !== 200) return `was answered with ${got.status}`
  const limit = limitOf(room)
  return limit !== undefined && got.length !== undefined && got.length > limit
    ? `has a file of ${got.length} bytes, and at most ${limit} are allowed`
    : undefined
}

/** Fetches an archive into our content, by its digest; stops as soon as it is too large. */
export async function fetchArchive(room: FetchRoom, url: string): Promise<string> {
  const fault = () => new ArchiveFault('The file is larger than an import may be.')
  const got = await room.outbound.stream(url, { timeout: patience }, async ({ status, body }) => {
    if (status !== 200) throw new ArchiveFault('The file could not be fetched.')
    return room.blobs.put(body, limitOf(room), fault)
  })
  if ('blocked' in got) throw new ArchiveFault(`The address is blocked: ${got.blocked}`)
  if ('failed' in got) throw new ArchiveFault('The file could not be fetched.')
  return got.digest
}
