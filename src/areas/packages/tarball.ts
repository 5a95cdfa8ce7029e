import type { Readable } from 'node:stream'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract as readTar } from 'tar-stream'
import { badRequest } from '../../kernel/errors/index.ts'

/** Bytes of a file that is read whole. */
const largestFile = 1024 * 1024
/** Bytes that are unpacked until it is found: more is no package but a bomb. */
const mostUnpacked = 1024 * 1024 * 1024

/** The first file of a gzipped tar whose name is wanted. Throws 400 where there is none, and for what is no such archive. */
export async function fileOfTarball(archive: Readable, wanted: RegExp): Promise<Buffer> {
  let unpacked = 0
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length
      done(unpacked > mostUnpacked ? badRequest('The archive is too large when unpacked') : null, chunk)
    },
  })
  const tar = readTar()
  const flowing = pipeline(archive, createGunzip(), meter, tar)
  // What goes wrong there ends the loop below, which tells of it.
  flowing.catch(() => undefined)
  try {
    for await (const entry of tar) {
      const { name, type, size } = entry.header
      if (type !== 'file' || !wanted.test(name)) {
        entry.resume()
        continue
      }
      if (size > largestFile) throw badRequest(`${name} is too large`)
      const chunks: Buffer[] = []
      for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
      return Buffer.concat(chunks)
    }
  } catch (error) {
    if (isRefusal(error)) throw error
    throw badRequest('The archive is broken')
  } finally {
    archive.destroy()
  }
  throw badRequest('The archive does not tell what it is')
}

const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'ApiError'
