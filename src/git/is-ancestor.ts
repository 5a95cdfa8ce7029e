import type { Oid } from './parse.ts'
import { run, type Workplace } from './run.ts'

/** Also false when one of them is missing or no commit: a rule against lost history must not be passed by that. */
export async function isAncestor(place: Workplace, ancestor: Oid, descendant: Oid): Promise<boolean> {
  if (ancestor === descendant) return true
  const { exitCode } = await run(place, 'merge-base', {
    flags: ['--is-ancestor'],
    revs: [ancestor, descendant],
    accept: [0, 1, 128],
  })
  return exitCode === 0
}
