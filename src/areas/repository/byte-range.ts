import { Transform } from 'node:stream'

export interface ByteRange {
  readonly start: number
  /** The last byte, too. */
  readonly end: number
}

/**
 * The one range that a header `Range` asks for, of a content of `size` bytes. `unsatisfiable`: it lies behind the end.
 * Undefined without one, and for forms that we do not serve: then the whole content is a fit answer.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const start = Number(from)
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}

/** Lets only the bytes of the range through. */
export function cutTo({ start, end }: ByteRange): Transform {
  let at = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const from = Math.max(start - at, 0)
      const to = end + 1 - at
      at += chunk.length
      done(null, from < chunk.length && to > 0 ? chunk.subarray(from, to) : undefined)
    },
  })
}
