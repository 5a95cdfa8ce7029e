import { finished, pipeline } from 'node:stream/promises'
import { PassThrough, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { extract, pack, type Header } from 'tar-stream'
import { ZipFile } from 'yazl'

/** Content that lies beside the repository. */
export interface KeptElsewhere {
  /** Bytes. */
  readonly size: number
  readonly read: () => Promise<Readable>
}

export interface LargeFiles {
  /** Bytes from which on a file stands for nothing but itself. */
  readonly smallerThan: number
  /** What such a small file stands for; undefined: itself. */
  readonly contentOf: (file: Buffer) => Promise<KeptElsewhere | undefined>
}

/**
 * A tar as it comes, in another form and with the content of large files in the place of what stands for them. Nothing
 * is held but one small file; what goes wrong is an error of the stream.
 */
export function repacked(
  tar: Readable,
  format: 'tar' | 'tar.gz' | 'zip',
  { smallerThan, contentOf }: LargeFiles,
): Readable {
  const output = new PassThrough()
  const gone = new AbortController()
  output.once('close', () => gone.abort())
  const target = format === 'zip' ? zipInto(output, gone.signal) : tarInto(output, format === 'tar.gz')
  const filling = async (): Promise<void> => {
    const entries = extract()
    const flowing = pipeline(tar, entries, { signal: gone.signal })
    // What goes wrong there ends the loop below, and is told once that is over.
    flowing.catch(() => undefined)
    for await (const entry of entries) {
      const { header } = entry
      const { size } = header
      if (header.type === 'file' && size < smallerThan) {
        const file = await gather(entry)
        const large = await contentOf(file)
        if (large === undefined) await target.add(header, file.length, Readable.from([file]))
        else await target.add(header, large.size, await large.read())
      } else await target.add(header, size, entry)
    }
    await flowing
    target.end()
  }
  filling().catch((error: unknown) => output.destroy(error as Error))
  return output
}

interface Target {
  add(header: Header, size: number, content: AsyncIterable<unknown>): Promise<void>
  end(): void
}

async function gather(content: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function tarInto(output: PassThrough, gzip: boolean): Target {
  const tar = pack()
  const sending = gzip ? pipeline(tar, createGzip(), output) : pipeline(tar, output)
  sending.catch((error: unknown) => output.destroy(error as Error))
  return {
    async add({ name, mode, mtime, type, linkname }, size, content) {
      const entry = tar.entry({ name, mode, mtime, type, linkname, size })
      await pipeline(Readable.from(content, { objectMode: false }), entry)
    },
    end: () => tar.finalize(),
  }
}

const types = { file: 0o100000, symlink: 0o120000 } as const

function zipInto(output: PassThrough, signal: AbortSignal): Target {
  const zip = new ZipFile()
  zip.on('error', (error: Error) => output.destroy(error))
  pipeline(zip.outputStream, output).catch((error: unknown) => output.destroy(error as Error))
  return {
    async add({ name: given, mode, mtime, type, linkname }, size, content) {
      // A name in a zip has no backslashes: readers take them for folders.
      const name = given.replaceAll('\\', '_')
      const time = { mtime }
      if (type === 'directory') {
        zip.addEmptyDirectory(name, time)
        await gather(content)
      } else if (type === 'symlink') {
        zip.addBuffer(Buffer.from(linkname), name, { ...time, mode: types.symlink | 0o777 })
        await gather(content)
      } else {
        const stream = Readable.from(content, { objectMode: false })
        zip.addReadStream(stream, name, { ...time, mode: types.file | mode, size })
        await finished(stream, { signal })
      }
    },
    end: () => zip.end(),
  }
}
