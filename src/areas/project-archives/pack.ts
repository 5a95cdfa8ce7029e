import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack as openTar } from 'tar-stream'

/** A folder of our own for some work, which goes with all that is in it. */
export async function openFolder(workplace: string): Promise<AsyncDisposable & { readonly path: string }> {
  await mkdir(workplace, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(path.join(workplace, 'archive-'))
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

export interface Packing {
  /** A file of this name, which is not kept in memory. */
  add(name: string, content: Readable | string): Promise<void>
  /** A file that lies elsewhere, and is read there once its turn comes. */
  addStored(name: string, size: number, open: () => Readable | Promise<Readable>): void
  /** The whole archive. */
  stream(): Readable
}

/** Gathers files in a folder, since a tar has to know the length of each before it begins. */
export function packIn(folder: string): Packing {
  const files: { name: string; size: number; open: () => Readable | Promise<Readable> }[] = []
  return {
    async add(name, content) {
      const place = path.join(folder, `file-${files.length}`)
      if (typeof content === 'string') await writeFile(place, content)
      else await pipeline(content, createWriteStream(place))
      files.push({ name, size: (await stat(place)).size, open: () => createReadStream(place) })
    },
    addStored(name, size, open) {
      files.push({ name, size, open })
    },
    stream() {
      const tar = openTar()
      const gzip = createGzip()
      const filling = async (): Promise<void> => {
        for (const { name, size, open } of files) {
          // By turns: content that is stored pours itself only into streams of Node, which an entry is not.
          await pipeline(Readable.from(await open()), tar.entry({ name, size, mode: 0o600 }))
        }
        tar.finalize()
      }
      filling().catch((error: unknown) => tar.destroy(error as Error))
      pipeline(tar, gzip).catch((error: unknown) => gzip.destroy(error as Error))
      return gzip
    },
  }
}

/** Removes folders that a crash has left, once they have lain for so many milliseconds. */
export async function removeLeftFolders(workplace: string, age: number): Promise<void> {
  for (const name of await readdir(workplace).catch(() => [])) {
    const folder = path.join(workplace, name)
    const found = await stat(folder).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > age)
      await rm(folder, { recursive: true, force: true })
  }
}

export async function* linesOf(records: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const record of records) yield `${JSON.stringify(record)}\n`
}
