import { endpoint, project as projectKind } from '../../../access/index.ts'
import { commitFiles, findEntry, parseOid } from '../../../git/index.ts'
import { Fields, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { invalidParameters, refused } from '../../../kernel/errors/index.ts'
import { allRules, rulesIn } from '../../protected-branches/index.ts'
import { CommitDetail, commitDetail } from '../commit-entity.ts'
import { commitChange, openTarget, signatures } from '../committing.ts'
import { filePathOf } from '../file-content.ts'
import { projectUrl, type RepositoryServices } from '../services.ts'

export function submoduleEndpoints(services: RepositoryServices): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: '/projects/:id/repository/submodules/:submodule',
      summary: 'Point a submodule at another commit',
      description: 'The other repository is not looked at: whether it has the commit is not known here.',
      on: projectKind,
      may: 'push_to_branch',
      params: Fields({
        branch: Text({ blank: false, description: 'The branch to commit to' }),
        commit_sha: Text({ blank: false, description: 'Full id of a commit of the submodule' }),
        commit_message: Optional(Text()),
      }),
      answers: CommitDetail,
      refuses: { 400: 'There is no such submodule, it is there already, or a rule forbids it' },
      read: () => allRules(),
      async handle({ actor, project, params: { submodule, branch, commit_sha, commit_message }, rows }) {
        const path = filePathOf(submodule, 'submodule')
        const commit = parseOid(commit_sha.toLowerCase())
        if (commit === undefined) throw invalidParameters(['commit_sha is invalid'])
        const writer = { actor, project, rules: rulesIn(rows) }
        const place = await openTarget(services, writer, { branch })
        const old = place.start && (await findEntry(place.repository, place.start, path))
        if (old?.type !== 'commit') throw refused(400, 'Invalid submodule path')
        if (old.oid === commit) throw refused(400, `The submodule ${submodule} is already at ${commit}`)
        const made = await commitChange(services, writer, place, () =>
          commitFiles(place.repository, {
            branch: place.ref,
            start: place.start,
            actions: [{ action: 'point', path, commit }],
            message: commit_message ?? `Update submodule ${submodule} with oid ${commit}`,
            ...signatures(services, actor),
          }),
        )
        return commitDetail(
          made,
          { id: project.id, url: projectUrl(services, project) },
          undefined,
          undefined,
        )
      },
    }),
  ]
}
