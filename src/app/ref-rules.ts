import { codeOwnerGuard } from '../areas/code-owners/index.ts'
import { largeFileBytes, lfsGuard } from '../areas/git-lfs/index.ts'
import type { ProjectSubject } from '../access/index.ts'
import { isMergeResult } from '../areas/merge-requests/index.ts'
import {
  branchGuard,
  collaborationGuard,
  protectFirstBranch,
  type DoorGuardServices,
  type GuardServices,
} from '../areas/protected-branches/index.ts'
import { tagGuard } from '../areas/protected-tags/index.ts'
import { pushRuleGuard } from '../areas/push-rules/index.ts'
import { secretGuard } from '../areas/secret-push-protection/index.ts'
import { sizeGuard, type DoorRules } from '../areas/repository/index.ts'
import { offers, type Plan } from '../kernel/config/index.ts'

/** Everything that may refuse the move of a ref. What costs most is asked last, and only when nobody else refuses. */
export function refRules(services: GuardServices & { plan: Plan }): DoorRules<ProjectSubject> {
  const { db, settings, plan } = services
  const forBranches: DoorGuardServices = {
    ...services,
    isMergeResult: (project, branch, oid) => isMergeResult(db.reader, project, branch, oid),
  }
  return {
    guard(mover) {
      const names = [
        collaborationGuard(forBranches, mover),
        branchGuard(forBranches, mover),
        tagGuard({ db }, mover),
      ]
      const contents = [
        ...(offers(plan, 'push_rules')
          ? [
              sizeGuard(settings, () => largeFileBytes(db.reader, mover.project.id)),
              pushRuleGuard(services, mover),
            ]
          : []),
        ...(offers(plan, 'code_owners') ? [codeOwnerGuard({ db }, mover)] : []),
        lfsGuard({ db }, mover),
        ...(offers(plan, 'secret_push_protection') ? [secretGuard({ db, settings }, mover)] : []),
      ]
      return {
        async check(proposal) {
          const refusals = []
          for (const guard of names) refusals.push(...(await guard.check(proposal)))
          for (const guard of contents) {
            if (refusals.length > 0) break
            refusals.push(...(await guard.check(proposal)))
          }
          return refusals
        },
      }
    },
    firstBranch: (tx, projectId, branch) => protectFirstBranch(tx, settings, projectId, branch),
  }
}
