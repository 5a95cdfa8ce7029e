import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { ObjectType } from './object-readers.ts'
import type { Oid } from './parse.ts'

export interface NewObject {
  readonly oid: Oid
  readonly type: ObjectType
  readonly content: Buffer
}

/** An object and the id that git will give it. */
export function newObject(type: ObjectType, content: Buffer): NewObject {
  const hash = createHash('sha1').update(`${type} ${content.length}\0`).update(content)
  return { oid: hash.digest('hex') as Oid, type, content }
}

const typeNumber = { commit: 1, tree: 2, blob: 3, tag: 4 } as const
const compress = promisify(deflate)

/** The first 12 bytes of a pack. */
export function packHeader(objects: number): Buffer {
  const header = Buffer.alloc(12)
  header.write('PACK', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects, 8)
  return header
}

/** What follows the header: each object whole, then the checksum. Git makes deltas when it packs the repository. */
export async function* packBody(objects: readonly NewObject[]): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha1').update(packHeader(objects.length))
  for (const { type, content } of objects) {
    const entry = Buffer.concat([entryHeader(typeNumber[type], content.length), await compress(content)])
    hash.update(entry)
    yield entry
  }
  yield hash.digest()
}

/** Four bits of the size beside the type, then seven a byte, lowest first. */
function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = []
  let byte = (type << 4) | (size & 15)
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes.push(byte | 0x80)
    byte = left & 0x7f
  }
  return Buffer.from([...bytes, byte])
}
