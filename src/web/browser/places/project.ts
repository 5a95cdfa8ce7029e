import { tags, type Child } from '../dom.ts'
import type { Project } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { markdown } from '../parts/markdown.ts'
import { refBar } from '../parts/ref-bar.ts'
import { readTree, treeView } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

const { a, code, details, div, h1, h2, input, label, p, pre, span, summary } = tags

await showInProject('Code', async (project) => ({
  title: '',
  body: [await about(project), await files(project)],
}))

async function about(project: Project): Promise<Child> {
  const { description, topics, forked_from_project: origin, star_count: stars, forks_count: forks } = project
  return div(
    { className: 'introduction' },
    h1(project.name),
    await markdown(description ?? '', project.path_with_namespace),
    p(
      { className: 'soft' },
      origin && [
        'A fork of ',
        a({ href: address`/${slashed(origin.path_with_namespace)}` }, origin.name_with_namespace),
        '. ',
      ],
      `${stars} ${stars === 1 ? 'star' : 'stars'}, ${forks} ${forks === 1 ? 'fork' : 'forks'}`,
      topics.map((topic) => span({ className: 'badge' }, topic)),
    ),
  )
}

async function files(project: Project): Promise<Child> {
  const { default_branch: ref, repository_access_level: access } = project
  if (access === 'disabled') return p({ className: 'soft' }, 'The repository is switched off.')
  if (ref === null || project.empty_repo === true) return howToBegin(project)
  const at = { ref, path: '' }
  const entries = await readTree(project, at)
  return [refBar(project, at, cloneMenu(project)), await treeView(project, at, entries)]
}

function cloneMenu({ http_url_to_repo: http, ssh_url_to_repo: ssh }: Project): Child {
  const row = (words: string, value: string): Child =>
    label(
      words,
      input({ value, readOnly: true, onfocus: ({ target }: Event) => (target as HTMLInputElement).select() }),
    )
  return details({ className: 'dropdown clone' }, summary('Clone'), div(row('HTTP', http), row('SSH', ssh)))
}

function howToBegin({ http_url_to_repo: http, default_branch: branch }: Project): Child {
  const name = branch ?? 'main'
  return [
    h2('The repository is empty'),
    p(
      'Push one that you have. As password git takes a token, with the scope ',
      code('write_repository'),
      '.',
    ),
    pre(`git remote add origin ${http}\ngit push -u origin ${name}`),
  ]
}
