import type { Readable } from 'node:stream'
import { tooLarge } from '../../kernel/errors/index.ts'

/** A body of a few kilobytes at most, such as a name or a digest. */
export async function readSmall(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > 10_000) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
