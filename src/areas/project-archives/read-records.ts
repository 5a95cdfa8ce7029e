import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { RecordFault } from './check-records.ts'

/** Records that are written at one time. */
const batch = 200
/** Characters of a record. */
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
  const lines = createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  for await (const line of lines) {
    if (line === '') continue
    count.fetched += 1
    try {
      if (line.length > longestRecord) throw new RecordFault('is too long')
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
