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
): AsyncGenerator<Record[]> {
  const count = (counts[relation] = { fetched: 0, imported: 0 })
  let records: Record[] = []
  for await (const line of linesIn(file)) {
    if (line === '') continue
    count.fetched += 1
    try {
      if (line === undefined) throw new RecordFault('is too long')
      records.push(checked(JSON.parse(line)))
    } catch (error) {
      if (!(error instanceof RecordFault || error instanceof SyntaxError)) throw error
      failed.push({
        relation_name: relation,
        line: count.fetched,
        exception_message: error.message.slice(0, 200),
      })
    }
    if (records.length === batch) {
      yield records
      records = []
    }
  }
  if (records.length > 0) yield records
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
