import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract as readTar } from 'tar-stream'

/** The archive is not one, or is too large: told to who imports it. */
export class ArchiveFault extends Error {}

export interface UnpackOptions {
  /** Whether such an archive may hold a file of this name. */
  readonly known: (name: string) => boolean
  /** Bytes of all that it unpacks to; undefined: any number. */
  readonly size: number | undefined
  /** Milliseconds; undefined: as long as it takes. */
  readonly time: number | undefined
}

/** Files of an archive that are taken out of it. */
const mostFiles = 200_000

const tooLarge = 'Decompressed archive size validation failed.'

/**
 * Writes the files of an archive that we know into a folder, under names of ours, and tells where each is. What else is
 * in it (other names, links, devices) is passed over, and counts.
 */
export async function unpack(
  archive: Readable,
  folder: string,
  options: UnpackOptions,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const tar = readTar()
  const stop = options.time === undefined ? undefined : AbortSignal.timeout(options.time)
  const flowing = pipeline(
    archive,
    createGunzip(),
    metered(options.size),
    tar,
    stop === undefined ? {} : { signal: stop },
  )
  // What goes wrong there ends the loop below, and is told once that is over.
  flowing.catch(() => undefined)
  try {
    for await (const entry of tar) {
      const { name, type } = entry.header
      const plain = name.replace(/^\.\//, '')
      if (type === 'file' && options.known(plain) && !found.has(plain)) {
        if (found.size === mostFiles) throw new ArchiveFault(tooLarge)
        const place = path.join(folder, `file-${found.size}`)
        await pipeline(entry, createWriteStream(place, { flags: 'wx', mode: 0o600 }))
        found.set(plain, place)
      } else {
        entry.resume()
      }
    }
    await flowing
  } catch (error) {
    archive.destroy()
    const cause = await flowing.then(
      () => error,
      (why: unknown) => why,
    )
    if (error instanceof ArchiveFault) throw error
    if (cause instanceof ArchiveFault) throw cause
    if (stop?.aborted === true) throw new ArchiveFault(tooLarge)
    throw new ArchiveFault('The file is not an archive, or is not whole.')
  }
  return found
}

/** Writes what a gzipped file unpacks to into another one. */
export async function gunzipTo(
  archive: Readable,
  file: string,
  { size, time }: Omit<UnpackOptions, 'known'>,
): Promise<void> {
  const stop = time === undefined ? undefined : AbortSignal.timeout(time)
  try {
    await pipeline(
      archive,
      createGunzip(),
      metered(size),
      createWriteStream(file, { flags: 'wx', mode: 0o600 }),
      stop === undefined ? {} : { signal: stop },
    )
  } catch (error) {
    if (error instanceof ArchiveFault) throw error
    if (stop?.aborted === true) throw new ArchiveFault(tooLarge)
    throw new ArchiveFault('The file is not an archive, or is not whole.')
  }
}

function metered(limit: number | undefined): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (limit !== undefined && size > limit) done(new ArchiveFault(tooLarge))
      else done(null, chunk)
    },
  })
}
