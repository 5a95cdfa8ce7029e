import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import yauzl, { type Entry, type ZipFile } from 'yauzl'

const openFile = promisify<string, yauzl.Options, ZipFile>(yauzl.open as never)

/** One file out of a zip archive, as a stream; undefined where there is none of this path, or no readable archive. */
export async function fileOf(
  archive: string,
  wanted: string,
): Promise<{ size: number; content: Readable } | undefined> {
  let zip: ZipFile
  try {
    zip = await openFile(archive, { lazyEntries: true, autoClose: false, decodeStrings: true })
  } catch {
    return undefined
  }
  try {
    const entry = await findEntry(zip, wanted)
    if (entry === undefined) {
      zip.close()
      return undefined
    }
    const content = await promisify<Entry, Readable>(zip.openReadStream.bind(zip) as never)(entry)
    content.once('close', () => zip.close())
    return { size: entry.uncompressedSize, content }
  } catch {
    zip.close()
    return undefined
  }
}

/** No folder, and no link to somewhere else: what it says of its place counts nowhere but here. */
function isFile({ fileName, externalFileAttributes }: Entry): boolean {
  const kind = (externalFileAttributes >>> 16) & 0o170000
  return !fileName.endsWith('/') && (kind === 0 || kind === 0o100000)
}

function findEntry(zip: ZipFile, wanted: string): Promise<Entry | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Entry | undefined>()
  zip.on('entry', (entry: Entry) => {
    if (entry.fileName === wanted) resolve(isFile(entry) ? entry : undefined)
    else zip.readEntry()
  })
  zip.once('end', () => resolve(undefined))
  zip.once('error', reject)
  zip.readEntry()
  return promise
}
