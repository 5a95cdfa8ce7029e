import { readPage, write } from '../api.ts'
import { tags } from '../dom.ts'
import type { Branch, MergeRequest, Project } from '../entities.ts'
import { address, endpoint, query, slashed } from '../here.ts'
import { form, type Choice, type Field } from '../parts/form.ts'
import { showInProject } from '../project-frame.ts'
import { whoIsSignedIn } from '../session.ts'

/** What links to this page may ask for, as `merge_request[source_branch]`. */
function asked(name: string): string | undefined {
  return query.get(`merge_request[${name}]`) ?? undefined
}

await showInProject('Merge requests', async (project) => {
  await whoIsSignedIn()
  const { items } = await readPage<Branch>(endpoint`/projects/${project.id}/repository/branches`, {
    per_page: 100,
  })
  const branches = items.map(({ name }): Choice => [name, name])
  const targets = [project, project.forked_from_project ?? []].flat()
  return {
    title: 'New merge request',
    body: [
      tags.h1('New merge request'),
      form(
        [
          {
            name: 'source_branch',
            words: 'Branch to bring',
            required: true,
            choices: branches,
            value: asked('source_branch') ?? '',
          },
          ...(targets.length > 1 ? [whichProject(targets)] : []),
          {
            name: 'target_branch',
            words: 'Into the branch',
            required: true,
            choices: branches,
            value: asked('target_branch') ?? project.default_branch ?? '',
          },
          { name: 'title', words: 'Title', required: true, value: asked('title') ?? '' },
          {
            name: 'description',
            words: 'Description',
            kind: 'text',
            value: asked('description') ?? '',
            hint: 'In Markdown. “Closes #7” closes the issue when it is merged.',
          },
        ],
        'Create the merge request',
        async (values) => {
          const target = targets.find(({ id }) => String(id) === values['target_project_id']) ?? project
          const { iid } = await write<MergeRequest>(
            'POST',
            endpoint`/projects/${project.id}/merge_requests`,
            values,
          )
          location.assign(address`/${slashed(target.path_with_namespace)}/-/merge_requests/${iid}`)
        },
      ),
    ],
  }
})

/** A fork brings its branches to the project that it was made from, unless told otherwise. */
function whichProject(targets: readonly Pick<Project, 'id' | 'name_with_namespace'>[]): Field {
  return {
    name: 'target_project_id',
    words: 'Into the project',
    kind: 'choice',
    choices: targets.map(({ id, name_with_namespace: name }): Choice => [String(id), name]),
    value: String(targets.at(-1)!.id),
  }
}
