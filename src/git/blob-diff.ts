import type { Oid } from './parse.ts'
import { run, type Workplace } from './run.ts'
import { looksBinary } from './blobs.ts'

/** Bytes of a diff; a longer one is refused as `too-large`. */
const longest = 8 * 1024 * 1024

/** How one file's content became another, in the unified form from its first `@@` on; empty where they are the same. */
export async function diffBlobs(place: Workplace, from: Oid, to: Oid): Promise<string> {
  if (from === to) return ''
  const { stdout } = await run(place, 'diff', {
    flags: ['--no-color', '--no-ext-diff', '--no-textconv'],
    revs: [from, to],
    maxOutput: longest,
  })
  if (looksBinary(stdout)) return ''
  const text = stdout.toString()
  const start = text.indexOf('\n@@ ')
  return start < 0 ? '' : text.slice(start + 1)
}
