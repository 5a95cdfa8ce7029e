import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Tag } from '../entities.ts'
import { address, endpoint, slashed } from '../here.ts'
import { commitLine } from '../parts/commit-line.ts'
import { finder, searched } from '../parts/finder.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { treeAddress } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

const { a, h1, li, p, ul } = tags

await showInProject('Tags', async ({ id, path_with_namespace: full }) => {
  const found = await readPage<Tag>(endpoint`/projects/${id}/repository/tags`, {
    search: searched(),
    page: pageWanted(),
    per_page: 50,
  })
  return {
    title: 'Tags',
    body: [
      h1('Tags'),
      finder('Name of a tag'),
      ul(
        { className: 'rows' },
        found.items.map(({ name, message, commit }) =>
          li(
            a({ className: 'subject', href: treeAddress(full, { ref: name, path: '' }) }, name),
            ' ',
            a(
              {
                href: address`/${slashed(full)}/-/archive/${slashed(name)}/${`${name.replaceAll('/', '-')}.zip`}`,
              },
              'zip',
            ),
            message !== null && message !== '' && p({ className: 'soft' }, message),
            commitLine(full, commit),
          ),
        ),
      ),
      pager(found),
    ],
  }
})
