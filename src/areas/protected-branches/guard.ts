import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  branchName,
  isAncestor,
  listBranches,
  type Oid,
  type ProposedUpdate,
  type RefGuard,
  type Refusal,
  type Repository,
} from '../../git/index.ts'
import { collaborationBranches } from './collaboration.ts'
import { judge, type JudgeServices } from './judge.ts'
import { protectionOf, type BranchRule } from './rules.ts'
import { settledRules } from './pause.ts'

export interface GuardServices extends JudgeServices {
  readonly repositoryOf: (project: ProjectSubject) => Repository
}

export interface DoorGuardServices extends GuardServices {
  /** Whether this is what the branch is to have once a merge request that is being merged into it is merged. */
  readonly isMergeResult: (projectId: number, branch: string, oid: Oid) => Promise<boolean>
}

/** Who moves refs, of what, and whether over git or through the API and the pages. */
export interface Mover {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly via: 'git' | 'web'
}

const mayNotPush = 'You are not allowed to push code to this project.'

/**
 * Who is no Developer comes through the door only to give a branch the result of a merge, or to push to a branch of a
 * fork whose merge request lets him in.
 */
export function collaborationGuard(services: DoorGuardServices, { actor, project }: Mover): RefGuard {
  return {
    async check({ updates }) {
      if (actor.user === null || may(actor, 'push_code', project)) return []
      const branches = updates.flatMap(({ ref }) => branchName(ref) ?? [])
      const open = await collaborationBranches(services.db.reader, actor, project, branches)
      const refusals: Refusal[] = []
      for (const { ref, newOid, isCreation, isDeletion } of updates) {
        const branch = branchName(ref)
        const lets =
          branch !== undefined &&
          !isCreation &&
          !isDeletion &&
          (open.has(branch) || (await services.isMergeResult(project.id, branch, newOid)))
        if (!lets) refusals.push({ ref, message: mayNotPush })
      }
      return refusals
    },
  }
}

/** The rules of protected branches, as the ref door asks them: for every update, whoever makes it. */
export function branchGuard(services: DoorGuardServices, mover: Mover): RefGuard {
  const { project, via } = mover
  return {
    async check({ updates, objects }) {
      const branches = updates.flatMap((update) => {
        const branch = branchName(update.ref)
        return branch === undefined ? [] : [{ update, branch }]
      })
      if (branches.length === 0) return []
      const rules = await settledRules(
        services.db,
        mover,
        branches.map(({ branch }) => branch),
      )
      const refusals: Refusal[] = []
      for (const { update, branch } of branches) {
        const message = await judge(services, mover, {
          branch,
          kind: update.isCreation ? 'create' : update.isDeletion ? 'delete' : 'update',
          isForced: () => update.isForced(),
          onProtectedBranch: () =>
            liesOnProtectedBranch(services.repositoryOf(project), objects, project, update, rules),
          isMergeResult: () => services.isMergeResult(project.id, branch, update.newOid),
          via,
          rules,
        })
        if (message !== undefined) refusals.push({ ref: update.ref, message })
      }
      return refusals
    },
  }
}

async function liesOnProtectedBranch(
  repository: Repository,
  objects: Repository,
  project: ProjectSubject,
  { newOid }: ProposedUpdate,
  rules: readonly BranchRule[],
): Promise<boolean> {
  const branches = await listBranches(repository, project.refsVersion)
  for (const { name, oid } of branches) {
    if (protectionOf(name, rules) !== undefined && (await isAncestor(objects, newOid, oid))) return true
  }
  return false
}
