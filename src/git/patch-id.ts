import { pipeline } from 'node:stream/promises'
import { emptyTreeOid, isZero, parseOid, type Oid } from './parse.ts'
import { failure, start, type Workplace } from './run.ts'

/**
 * An id of what differs between two commits or trees that stays the same when it is moved elsewhere: it counts neither
 * line numbers nor what the files were before. Blanks count. Undefined where nothing differs.
 */
export async function patchId(place: Workplace, from: Oid, to: Oid): Promise<Oid | undefined> {
  const diff = start(place, 'diff-tree', {
    flags: ['-r', '-p', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv'],
    revs: [isZero(from) ? emptyTreeOid : from, isZero(to) ? emptyTreeOid : to],
  })
  diff.stdin.end()
  const digest = start(place, 'patch-id', { flags: ['--verbatim'] })
  const said: Buffer[] = []
  digest.stdout.on('data', (chunk: Buffer) => said.push(chunk))
  try {
    await pipeline(diff.stdout, digest.stdin)
  } catch (error) {
    diff.kill()
    digest.kill()
    await Promise.allSettled([diff.exit, digest.exit])
    throw error
  }
  const [diffExit, digestExit] = await Promise.all([diff.exit, digest.exit])
  if (diffExit !== 0) throw failure('diff-tree', diffExit, diff.stderr())
  if (digestExit !== 0) throw failure('patch-id', digestExit, digest.stderr())
  return parseOid(Buffer.concat(said).toString('latin1').split(' ', 1)[0] ?? '')
}
