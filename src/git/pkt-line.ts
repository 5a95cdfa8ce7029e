import { GitError } from './git-error.ts'

/** A line of the git protocol (gitprotocol-common(5)), or one of the marks between them. */
export type Pkt = Buffer | 'flush' | 'delimiter' | 'response-end'

/** Bytes of text in one line at most; four more for its length. */
export const maxPktData = 65516

export const flushPkt: Buffer = Buffer.from('0000')
export const delimiterPkt: Buffer = Buffer.from('0001')

export function pkt(data: string | Buffer): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data
  if (bytes.length > maxPktData) throw new GitError('too-large', 'a protocol line is too long')
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

/** The same as text, for answers of many lines, which are then made into bytes at once. */
export function pktLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text
}

/** The length that a line announces: 0, 1 and 2 are marks. Throws `protocol` for anything that is no length. */
export function pktLength(head: Buffer): number {
  const text = head.toString('latin1', 0, 4)
  if (!/^[0-9a-fA-F]{4}$/.test(text)) throw new GitError('protocol', 'bad line length')
  const length = Number.parseInt(text, 16)
  if (length === 3 || length > maxPktData + 4) throw new GitError('protocol', 'bad line length')
  return length
}

export function pktMark(length: number): 'flush' | 'delimiter' | 'response-end' | undefined {
  return length === 0 ? 'flush' : length === 1 ? 'delimiter' : length === 2 ? 'response-end' : undefined
}

/** The lines at the start of `data`, and how many bytes they took; a line that is cut off is left alone. */
export function parsePkts(data: Buffer): { pkts: Pkt[]; used: number } {
  const pkts: Pkt[] = []
  let at = 0
  while (at + 4 <= data.length) {
    const length = pktLength(data.subarray(at, at + 4))
    const mark = pktMark(length)
    if (mark === undefined && at + length > data.length) break
    pkts.push(mark ?? data.subarray(at + 4, at + length))
    at += mark === undefined ? length : 4
  }
  return { pkts, used: at }
}

/** The text of a line, without the line break that most senders put at its end. */
export function pktText(data: Buffer): string {
  return data.toString('utf8', 0, data.at(-1) === 0x0a ? data.length - 1 : data.length)
}
