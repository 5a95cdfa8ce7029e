import { isZero, type Oid } from './parse.ts'
import { run, type Workplace } from './run.ts'

/**
 * Whether everything that the new values need is there. Walks only what no ref has yet. A pack that lacks objects,
 * by a broken client or on purpose, must not get a ref to it.
 */
export async function isConnected(
  objects: Workplace,
  heads: readonly Oid[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const wanted = heads.filter((oid) => !isZero(oid))
  if (wanted.length === 0) return true
  const { exitCode } = await run(objects, 'rev-list', {
    flags: ['--objects', '--stdin', '--quiet', '--not', '--all'],
    input: `${wanted.join('\n')}\n`,
    accept: [0, 1, 128],
    signal,
  })
  return exitCode === 0
}
