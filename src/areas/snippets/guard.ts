import {
  fileSizes,
  isZero,
  type Proposal,
  type ProposedUpdate,
  type RefGuard,
  type RefName,
} from '../../git/index.ts'
import { humanSize } from '../../kernel/lib/human-size.ts'
import { mostFiles } from './rules.ts'

/** What holds for pushes: one branch, a few files, none of them larger than this (bytes). */
export function snippetGuard(branch: RefName, largest: number): RefGuard {
  return {
    async check({ updates, objects }) {
      const refusals: { ref: RefName; message: string }[] = []
      for (const update of updates) {
        const message = await problemOf(update, branch, objects, largest)
        if (message !== undefined) refusals.push({ ref: update.ref, message })
      }
      return refusals
    },
  }
}

async function problemOf(
  { ref, newOid }: ProposedUpdate,
  branch: RefName,
  objects: Proposal['objects'],
  largest: number,
): Promise<string | undefined> {
  if (ref !== branch || isZero(newOid)) return 'You can not create or delete branches.'
  let files = 0
  for await (const { path, size } of fileSizes(objects, newOid)) {
    files += 1
    if (files > mostFiles) return `The repository can contain at most ${mostFiles} file(s).`
    if (size > largest)
      return `The file ${path} is too long (${humanSize(size)}). The maximum size is ${humanSize(largest)}.`
  }
  return files === 0 ? 'The repository must contain at least 1 file.' : undefined
}
