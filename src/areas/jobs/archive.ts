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

export interface ArchiveEntry {
  readonly name: string
  readonly path: string
  readonly type: 'directory' | 'file'
  /** Bytes; folders have none. */
  readonly size?: number
  readonly mode: string
}

/**
 * What lies in a folder of a zip archive, or in all below it, in the order of paths; folders that hold something are
 * there whether or not the archive lists them. Undefined: there is no such folder, or no readable archive.
 */
export async function entriesOf(
  archive: string,
  folder: string,
  recursive: boolean,
): Promise<ArchiveEntry[] | undefined> {
  const prefix = folder === '' ? '' : `${folder}/`
  let zip: ZipFile
  try {
    zip = await openFile(archive, { lazyEntries: true, autoClose: true, decodeStrings: true })
  } catch {
    return undefined
  }
  const found = new Map<string, ArchiveEntry>()
  let exists = folder === ''
  const add = (path: string, entry: Omit<ArchiveEntry, 'name' | 'path'>): void => {
    if (!found.has(path)) found.set(path, { name: path.slice(path.lastIndexOf('/') + 1), path, ...entry })
  }
  const { promise, resolve } = Promise.withResolvers<ArchiveEntry[] | undefined>()
  zip.on('entry', (entry: Entry) => {
    const { fileName } = entry
    if (fileName.startsWith(prefix)) {
      exists = true
      const parts = fileName.slice(prefix.length).split('/')
      // The last part is the file, or nothing after the slash of a folder.
      const folders = parts.slice(0, -1).slice(0, recursive ? undefined : 1)
      for (let depth = 1; depth <= folders.length; depth += 1) {
        add(prefix + folders.slice(0, depth).join('/'), { type: 'directory', mode: '040755' })
      }
      if (isFile(entry) && (recursive || parts.length === 1)) {
        const mode = ((entry.externalFileAttributes >>> 16) & 0o777 || 0o644).toString(8)
        add(fileName, { type: 'file', size: entry.uncompressedSize, mode: `100${mode.padStart(3, '0')}` })
      }
    }
    zip.readEntry()
  })
  zip.once('end', () => {
    const sorted = [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
    resolve(exists ? sorted : undefined)
  })
  zip.once('error', () => resolve(undefined))
  zip.readEntry()
  return promise
}

/**
 * The files below a folder of a zip archive, one after another as they lie in it; their paths are relative to the
 * folder. `content` is read before the next one is asked for. Throws where the archive cannot be read.
 */
export async function* filesBelow(
  archive: string,
  folder: string,
): AsyncGenerator<{ readonly path: string; readonly content: () => Promise<Readable> }> {
  const zip = await openFile(archive, { lazyEntries: true, autoClose: false, decodeStrings: true })
  const open = promisify<Entry, Readable>(zip.openReadStream.bind(zip) as never)
  try {
    for (let entry = await nextEntry(zip); entry !== undefined; entry = await nextEntry(zip)) {
      const found = entry
      if (isFile(found) && found.fileName.startsWith(`${folder}/`))
        yield { path: found.fileName.slice(folder.length + 1), content: () => open(found) }
    }
  } finally {
    zip.close()
  }
}

function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Entry | undefined>()
  const end = (): void => resolve(undefined)
  zip.once('entry', resolve).once('end', end).once('error', reject)
  zip.readEntry()
  return promise.finally(() => zip.off('entry', resolve).off('end', end).off('error', reject))
}
