import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteReader } from './byte-reader.ts'
import { GitError } from './git-error.ts'
import { maxPktData, parsePkts, pkt, type Pkt } from './pkt-line.ts'

const line: fc.Arbitrary<Pkt> = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('flush' as const, 'delimiter' as const, 'response-end' as const),
)
const marks = { flush: '0000', delimiter: '0001', 'response-end': '0002' }
const encode = (lines: readonly Pkt[]) =>
  Buffer.concat(lines.map((one) => (Buffer.isBuffer(one) ? pkt(one) : Buffer.from(marks[one]))))

/** Cuts a buffer into pieces at random places. */
function pieces(data: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (data.length + 1)))].sort((a, b) => a - b)
  return [0, ...places]
    .map((from, i) => data.subarray(from, places[i] ?? data.length))
    .filter((x) => x.length > 0)
}

test('what is written is read back, however the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), fc.uint8Array(), async (lines, cuts, tail) => {
      const data = Buffer.concat([encode(lines), tail])
      const reader = new ByteReader(Readable.from(pieces(data, cuts)))
      const read: (Pkt | undefined)[] = []
      for (let i = 0; i < lines.length; i++) read.push(await reader.pkt())
      const rest: Buffer[] = []
      for await (const chunk of reader.rest()) rest.push(chunk)
      expect(read).toEqual(lines)
      expect(Buffer.concat(rest)).toEqual(Buffer.from(tail))
    }),
  )
})

test('a buffer is parsed up to the line that is cut off', () => {
  fc.assert(
    fc.property(fc.array(line), fc.nat(), (lines, cut) => {
      const data = encode(lines)
      const part = data.subarray(0, cut % (data.length + 1))
      const { pkts, used } = parsePkts(part)
      expect(encode(pkts)).toEqual(part.subarray(0, used))
      expect(pkts).toEqual(lines.slice(0, pkts.length))
    }),
  )
})

test('any bytes are either read or refused as no protocol', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.stringMatching(/^[0-9a-f]{0,12}$/)), async (text) => {
      const reader = new ByteReader(Readable.from([Buffer.from(text)]))
      try {
        while ((await reader.pkt()) !== undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(GitError)
        expect((error as GitError).failure).toBe('protocol')
      }
    }),
  )
})

test('the longest line', () => {
  expect(pkt(Buffer.alloc(maxPktData)).toString('latin1', 0, 4)).toBe('fff0')
  expect(() => pkt(Buffer.alloc(maxPktData + 1))).toThrow(GitError)
})
