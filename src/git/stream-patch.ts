import { Readable } from 'node:stream'
import { emptyTreeOid, isZero, type Oid } from './parse.ts'
import { failure, start, type Workplace } from './run.ts'

/** All that differs between two commits or trees as one patch, as it comes. `zeroOid` compares as the empty tree. */
export function streamPatch(place: Workplace, from: Oid, to: Oid, signal?: AbortSignal): Readable {
  return Readable.from(patch(place, from, to, signal), { objectMode: false })
}

async function* patch(
  place: Workplace,
  from: Oid,
  to: Oid,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const git = start(place, 'diff-tree', {
    flags: ['-r', '-p', '--full-index', '--find-renames', '--no-ext-diff', '--no-textconv'],
    revs: [isZero(from) ? emptyTreeOid : from, isZero(to) ? emptyTreeOid : to],
    signal,
  })
  git.stdin.end()
  let finished = false
  try {
    yield* git.stdout as AsyncIterable<Buffer>
    finished = true
  } finally {
    if (!finished) git.kill()
  }
  const exitCode = await git.exit
  if (exitCode !== 0) throw failure('diff-tree', exitCode, git.stderr())
}
