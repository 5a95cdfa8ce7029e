import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Branch } from '../entities.ts'
import { endpoint } from '../here.ts'
import { commitLine } from '../parts/commit-line.ts'
import { finder, searched } from '../parts/finder.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { treeAddress } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

const { a, h1, li, span, ul } = tags

await showInProject('Branches', async ({ id, path_with_namespace: full }) => {
  const branches = await readPage<Branch>(endpoint`/projects/${id}/repository/branches`, {
    search: searched(),
    page: pageWanted(),
    per_page: 50,
  })
  return {
    title: 'Branches',
    body: [
      h1('Branches'),
      finder('Name of a branch'),
      ul(
        { className: 'rows' },
        branches.items.map((branch) =>
          li(
            a({ className: 'subject', href: treeAddress(full, { ref: branch.name, path: '' }) }, branch.name),
            (['default', 'protected', 'merged'] as const).map(
              (what) => branch[what] && span({ className: 'badge' }, what),
            ),
            commitLine(full, branch.commit),
          ),
        ),
      ),
      pager(branches),
    ],
  }
})
