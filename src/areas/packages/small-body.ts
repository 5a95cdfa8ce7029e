import { tooLarge } from '../../kernel/errors/index.ts'
import { readSmall } from '../../kernel/lib/small-body.ts'

/** A body of a few kilobytes at most, such as a name or a digest. */
export async function readWord(body: AsyncIterable<unknown>): Promise<string> {
  const read = await readSmall(body, 10_000)
  if (read === undefined) throw tooLarge()
  return read.toString()
}
