import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { readCommits, type Branch as GitBranch, type RefName, type Repository } from '../../git/index.ts'
import { Fields, Flag, Nullable, Text } from '../../kernel/endpoint/index.ts'
import { branchState, type BranchRule } from '../protected-branches/index.ts'
import { Commit, commitEntity } from './commit-entity.ts'

export const Branch = Fields({
  name: Text(),
  commit: Nullable(Commit),
  merged: Flag(),
  protected: Flag(),
  developers_can_push: Flag(),
  developers_can_merge: Flag(),
  can_push: Flag(),
  default: Flag(),
  web_url: Text(),
})

export interface Viewer {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly rules: readonly BranchRule[]
  readonly projectUrl: string
}

/** Branches as the caller sees them; their commits are read at once. */
export async function branchEntities(
  repository: Repository,
  branches: readonly Pick<GitBranch, 'name' | 'ref' | 'oid'>[],
  merged: ReadonlySet<RefName>,
  { actor, project, rules, projectUrl }: Viewer,
): Promise<Record<string, unknown>[]> {
  const commits = new Map(
    (
      await readCommits(
        repository,
        branches.map(({ oid }) => oid),
      )
    ).map((commit) => [commit.oid, commit]),
  )
  const mayPushCode = may(actor, 'push_code', project)
  return branches.map(({ name, ref, oid }) => {
    const state = branchState(name, rules, actor, project, mayPushCode)
    const commit = commits.get(oid)
    return {
      name,
      commit: commit === undefined ? null : commitEntity(commit, projectUrl),
      merged: merged.has(ref),
      protected: state.protected,
      developers_can_push: state.developersMayPush,
      developers_can_merge: state.developersMayMerge,
      can_push: state.mayPush,
      default: name === project.defaultBranch,
      web_url: `${projectUrl}/-/tree/${name.split('/').map(encodeURIComponent).join('/')}`,
    }
  })
}
