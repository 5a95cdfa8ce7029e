import type { ByteRange } from '../../blobs/index.ts'

/** The one range of a header `Range`; `all` without one or with several, `none` for one that lies beyond the end. */
export function readRange(header: string | undefined, size: number): ByteRange | 'all' | 'none' {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'all'
  if (first === '') {
    const wanted = Number(last)
    return wanted === 0 || size === 0 ? 'none' : { start: Math.max(0, size - wanted), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'all'
  return start < size ? { start, end } : 'none'
}

/** The piece that a client says it sends, `12-34`; undefined without, null when it is no range. */
export function readContentRange(header: string | undefined): ByteRange | undefined | null {
  if (header === undefined) return undefined
  const [, start, end] = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/.*)?$/.exec(header.trim()) ?? []
  if (start === undefined || Number(end) < Number(start)) return null
  return { start: Number(start), end: Number(end) }
}
