import { createReadStream } from 'node:fs'
import { RecordFault } from './record-reader.ts'

/** Records that are written at one time. */
const batch = 200
/** Bytes of a record. */
const longestRecord = 64 * 1024 * 1024

interface Failed {
  readonly relation_name: string
  readonly line: number
  readonly exception_message: string
}

/** What became of the records of an archive. */
export interface Taken {
  readonly failed: Failed[]
  readonly counts: Record<string, { fetched: number; imported: number }>
}

/** The records of a file some at a time; those that are not usable are noted. */
export async function* batches<Record>(
  file: string,
  relation: string,
  checked: (value: unknown) => Record,
  { failed, counts }: Taken,
  relink: (lines: readonly string[]) => Promise<readonly string[]> = async (lines) => lines,
): AsyncGenerator<Record[]> {
  const count = (counts[relation] = { fetched: 0, imported: 0 })
  const fail = (message: string): void => {
    failed.push({
      relation_name: relation,
      line: count.fetched,
      exception_message: message.slice(0, 200),
    })
  }
  for await (const lines of batchesOf(linesIn(file))) {
    const linked = await relink(lines.map((line) => line ?? ''))
    const records: Record[] = []
    for (const line of linked) {
      count.fetched += 1
      try {
        if (line === '') throw new RecordFault('is too long')
        records.push(checked(JSON.parse(line)))
      } catch (error) {
        if (!(error instanceof RecordFault || error instanceof SyntaxError)) throw error
        fail(error.message)
      }
    }
    if (records.length > 0) yield records
  }
}

/** Empty lines are none. */
async function* batchesOf(lines: AsyncIterable<string | undefined>): AsyncGenerator<(string | undefined)[]> {
  let some: (string | undefined)[] = []
  for await (const line of lines) {
    if (line === '') continue
    some.push(line)
    if (some.length < batch) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** The lines of a file; undefined for one that is too long, of which no more is kept than that. */
async function* linesIn(file: string): AsyncGenerator<string | undefined> {
  let pieces: Buffer[] = []
  let length = 0
  const take = (piece: Buffer): void => {
    length += piece.length
    if (length <= longestRecord) pieces.push(piece)
    else pieces = []
  }
  const end = (): string | undefined => {
    const line = length > longestRecord ? undefined : Buffer.concat(pieces).toString('utf8')
    pieces = []
    length = 0
    return line?.replace(/\r$/, '')
  }
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, at))
      yield end()
      start = at + 1
    }
    take(chunk.subarray(start))
  }
  if (length > 0) yield end()
}
