import { admits } from '../../access/index.ts'
import { branchName, changedPaths, type RefGuard, type Refusal } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { protectionOf, rulesOf, type Mover } from '../protected-branches/index.ts'
import { codeOwnersAt } from './file.ts'
import { matchedLines } from './owned.ts'

/**
 * Keeps pushes away from files with owners, on branches whose rules ask for the owners' approval: such changes go
 * through merge requests. Who may push to the branch is not asked, nor is what the service does itself.
 */
export function codeOwnerGuard({ db }: { db: Database }, { actor, project, via }: Mover): RefGuard {
  return {
    async check({ updates, objects }) {
      const moved = updates.filter(({ isCreation, isDeletion }) => !isCreation && !isDeletion)
      if (via === 'web' || moved.length === 0) return []
      const rules = await rulesOf(db.reader, project.id, actor.user?.id ?? null)
      const refusals: Refusal[] = []
      for (const { ref, oldOid, newOid } of moved) {
        const branch = branchName(ref)
        const protection = branch === undefined ? undefined : protectionOf(branch, rules)
        if (protection?.codeOwnerApprovalRequired !== true || admits(protection.push, actor, project))
          continue
        const file = await codeOwnersAt(objects, oldOid)
        if (file === undefined) continue
        const changes = await changedPaths(objects, oldOid, newOid)
        const matched = matchedLines(
          file,
          changes.map(({ path }) => path),
        )
        if (matched.length === 0) continue
        const patterns = matched.map(({ pattern }) => `- ${pattern.pattern}`)
        refusals.push({ ref, message: [refusalOf(file.path), ...patterns].join('\n') })
      }
      return refusals
    },
  }
}

function refusalOf(path: string): string {
  return `Pushes to protected branches that contain changes to files that match patterns defined in \`${path}\` are disabled for this project. Please submit these changes via a merge request.\n\nThe following pattern(s) from \`${path}\` were matched:`
}
