import type { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'

/** Content with random access, as `Blobs` has it. */
export type ReadRange = (range: { start: number; end: number }) => Readable

const headerLimit = 4096
const trailer = 8

/**
 * The members of a gzip file one by one: a report of several files comes as one member for each. `size`: of the whole
 * file in bytes. Throws where it is not gzip.
 */
export async function* gzipMembers(read: ReadRange, size: number): AsyncGenerator<AsyncIterable<Buffer>> {
  let start = 0
  while (start < size) {
    const end = Math.min(size, start + headerLimit) - 1
    const header = headerLength(Buffer.concat(await read({ start, end }).toArray()))
    const compressed = read({ start: start + header, end: size - 1 })
    const content = createInflateRaw()
    compressed.once('error', (error) => content.destroy(error))
    compressed.pipe(content)
    try {
      yield content
    } finally {
      compressed.destroy()
      content.destroy()
    }
    start += header + content.bytesWritten + trailer
  }
}

/** Bytes before the deflated content (RFC 1952, 2.3). */
function headerLength(bytes: Buffer): number {
  if (bytes.length < 18 || bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8)
    throw new Error('not in gzip format')
  const flags = bytes[3]!
  let length = 10
  if (flags & 0x04) length += 2 + bytes.readUInt16LE(length)
  for (const flag of [0x08, 0x10]) {
    if ((flags & flag) === 0) continue
    const zero = bytes.indexOf(0, length)
    if (zero === -1) throw new Error('not in gzip format')
    length = zero + 1
  }
  return flags & 0x02 ? length + 2 : length
}
