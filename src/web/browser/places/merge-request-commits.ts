import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Commit } from '../entities.ts'
import { showInRequest } from '../merge-request-frame.ts'
import { commitLine } from '../parts/commit-line.ts'
import { pager, pageWanted } from '../parts/pager.ts'

const { li, ul } = tags

await showInRequest('Commits', async ({ project, at }) => {
  const commits = await readPage<Commit>(`${at}/commits`, { page: pageWanted(), per_page: 40 })
  return [
    ul(
      { className: 'rows' },
      commits.items.map((commit) => li(commitLine(project.path_with_namespace, commit))),
    ),
    pager(commits),
  ]
})
