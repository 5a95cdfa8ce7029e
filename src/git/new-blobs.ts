import { isZero, type Oid } from './parse.ts'
import { records, type Workplace } from './run.ts'

const newline = 0x0a

/** The blobs of fewer than so many bytes that no ref reaches yet and these commits bring, in groups. */
export async function* newBlobs(
  objects: Workplace,
  heads: readonly Oid[],
  { smallerThan, atOnce }: { readonly smallerThan: number; readonly atOnce: number },
): AsyncGenerator<readonly Oid[], void, undefined> {
  const wanted = heads.filter((oid) => !isZero(oid))
  if (wanted.length === 0) return
  const found = records(objects, 'rev-list', newline, {
    flags: [
      '--objects',
      '--no-object-names',
      `--filter=combine:object:type=blob+blob:limit=${smallerThan}`,
      '--filter-provided-objects',
      '--stdin',
      '--not',
      '--all',
    ],
    input: `${wanted.join('\n')}\n`,
  })
  let group: Oid[] = []
  for await (const line of found) {
    group.push(line.toString('latin1') as Oid)
    if (group.length < atOnce) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
