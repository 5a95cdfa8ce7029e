import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { NewObject } from './pack-writer.ts'
import type { Oid } from './parse.ts'

const compress = promisify(deflate)

/** Writes an object of our own making into a folder of objects. Without git: a rebase writes hundreds of them. */
export async function writeLoose(
  folder: string,
  { oid, type, content }: NewObject,
  durable: boolean,
): Promise<void> {
  const packed = await compress(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]))
  await mkdir(join(folder, oid.slice(0, 2)), { recursive: true })
  try {
    await using file = await open(pathOf(folder, oid), 'wx', 0o444)
    await file.writeFile(packed)
    if (durable) await file.sync()
  } catch (error) {
    // The same content was written before.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

export async function removeLoose(folder: string, oid: Oid): Promise<void> {
  await rm(pathOf(folder, oid), { force: true })
}

function pathOf(folder: string, oid: Oid): string {
  return join(folder, oid.slice(0, 2), oid.slice(2))
}
