import { endpoint, project as projectKind } from '../../../access/index.ts'
import {
  branchRef,
  MergeProblem,
  pickCommit,
  revertCommit,
  resolve,
  type Commit as GitCommit,
  type PreparedChange,
} from '../../../git/index.ts'
import { Answer, Fields, Flag, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { notApplicable, notFound } from '../../../kernel/errors/index.ts'
import { allRules, rulesIn } from '../../protected-branches/index.ts'
import { Commit, commitEntity } from '../commit-entity.ts'
import { commitChange, requirePush, signatures, type Writer } from '../committing.ts'
import { commitNamed } from '../looking.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'

const path = '/projects/:id/repository/commits/:sha'
const refuses = { 400: 'The changes do not fit, or a rule forbids it', 404: 'No such commit or branch' }
const about = {
  branch: Text({ blank: false, description: 'Where the new commit goes' }),
  dry_run: Flag({ default: false, description: 'Only tell whether it would work' }),
}

export function pickingEndpoints(services: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: `${path}/cherry_pick`,
      summary: 'Make the changes of a commit again on a branch',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({
        ...about,
        message: Optional(Text({ description: 'Instead of the message of the commit' })),
      }),
      answers: Commit,
      refuses,
      read: () => allRules(),
      handle: ({ actor, project, params, rows }) =>
        apply(services, { actor, project, rules: rulesIn(rows) }, params, 'cherry-pick', (commit) => ({
          // Who wrote it stays its author.
          author: commit.author,
          message:
            params.message ?? `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.oid})`,
        })),
    }),

    endpoint({
      method: 'POST',
      path: `${path}/revert`,
      summary: 'Undo the changes of a commit on a branch',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields(about),
      answers: Commit,
      refuses,
      read: () => allRules(),
      handle: ({ actor, project, params, rows }) =>
        apply(services, { actor, project, rules: rulesIn(rows) }, params, 'revert', (commit) => ({
          message: `Revert "${commit.title}"\n\nThis reverts commit ${commit.oid}`,
        })),
    }),
  ]
}

interface Wanted {
  readonly sha: string
  readonly branch: string
  readonly dry_run: boolean
}

type Kind = 'cherry-pick' | 'revert'

async function apply(
  services: RepositoryServices,
  writer: Writer,
  { sha, branch, dry_run: dryRun }: Wanted,
  kind: Kind,
  wordsOf: (commit: GitCommit) => { message: string; author?: GitCommit['author'] },
): Promise<unknown> {
  await requirePush(services, writer, branch)
  const { actor, project } = writer
  const { repository, commit } = await commitNamed(services.places, project, sha)
  const ref = branchRef(branch)
  const head = ref && (await resolve(repository, ref))
  if (ref === undefined || head === undefined) throw notFound('Branch')
  const make = kind === 'revert' ? revertCommit : pickCommit
  const build = async (): Promise<PreparedChange> => {
    const words = { ...signatures(services, actor), ...wordsOf(commit) }
    try {
      return await make(repository, { ref, oldOid: head, onto: head, commit, ...words })
    } catch (error) {
      if (!(error instanceof MergeProblem)) throw error
      throw notApplicable(
        `Commit ${kind} failed: Can't perform this action automatically. It may have already been done, or a more recent commit may have updated some of this content. Please perform this action locally.`,
        error.problem,
        dryRun,
      )
    }
  }
  if (dryRun) {
    await using _change = await build()
    return new Answer(200, { 'content-type': 'application/json' }, JSON.stringify({ dry_run: 'success' }))
  }
  const made = await commitChange(services, writer, { repository, ref, start: head }, build)
  return commitEntity(made, projectUrl(services, project))
}
