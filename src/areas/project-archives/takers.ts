import type { Tx } from '../../kernel/db/index.ts'
import * as check from './check-records.ts'
import { checkBadge, checkProtectedTag, checkRelease } from './check-releases.ts'
import type { RelationName } from './format.ts'
import type { Relink } from './links.ts'
import { batches, type Taken } from './read-records.ts'
import type { Target } from './target.ts'
import * as write from './write-project.ts'
import { writeBadges, writeProtectedTags, writeReleases } from './write-releases.ts'

/** Records of a relation that lie in a file, and where it is told what became of them. */
export interface RecordFile {
  readonly file: string
  readonly relation: string
  readonly taken: Taken
  /** Others of the relation have been taken before, out of another file. */
  readonly further?: boolean
  /** Points links in them to uploads that have come. */
  readonly relink?: Relink | undefined
}

export type Taker<Target> = (tx: Tx, target: Target, records: RecordFile) => Promise<void>

/** Takes the records of a file that pass the check, and counts them. `before`: done once, if there are any. */
export function taking<Record, Target>(
  checked: (value: unknown) => Record,
  writeAll: (tx: Tx, target: Target, records: readonly Record[]) => Promise<void>,
  before?: (tx: Tx, target: Target) => Promise<void>,
): Taker<Target> {
  return async (tx, target, { file, relation, taken, further = false, relink }) => {
    let begun = further
    const linked = relink && ((lines: readonly string[]) => relink(tx, lines))
    for await (const records of batches(file, relation, checked, taken, linked)) {
      if (!begun) await before?.(tx, target)
      begun = true
      await writeAll(tx, target, records)
      taken.counts[relation]!.imported += records.length
    }
  }
}

/** How the records of each relation of a project are taken; merge requests, which are about code, by themselves. */
export const takers: Readonly<{ [Name in Exclude<RelationName, 'merge_requests'>]: Taker<Target> }> = {
  labels: taking(check.checkLabel, write.writeLabels),
  milestones: taking(check.checkMilestone, write.writeMilestones),
  issues: taking(check.checkIssue, write.writeIssues),
  releases: taking(checkRelease, writeReleases),
  badges: taking(checkBadge, writeBadges),
  protected_tags: taking(checkProtectedTag, writeProtectedTags),
  protected_branches: taking(
    check.checkProtectedBranch,
    write.writeProtectedBranches,
    write.forgetProtectedBranches,
  ),
}
