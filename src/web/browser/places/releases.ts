import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Release } from '../entities.ts'
import { endpoint } from '../here.ts'
import { pager, pageWanted } from '../parts/pager.ts'
import { releaseView } from '../parts/release-view.ts'
import { showInProject } from '../project-frame.ts'

const { h1, p } = tags

await showInProject('Releases', async ({ id, path_with_namespace: full }) => {
  const releases = await readPage<Release>(endpoint`/projects/${id}/releases`, {
    include_html_description: true,
    page: pageWanted(),
  })
  return {
    title: 'Releases',
    body: [
      h1('Releases'),
      releases.items.length === 0 && p({ className: 'soft' }, 'There are no releases.'),
      releases.items.map((release) => releaseView(full, release)),
      pager(releases),
    ],
  }
})
