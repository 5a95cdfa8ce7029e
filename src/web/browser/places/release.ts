import { read } from '../api.ts'
import type { Release } from '../entities.ts'
import { endpoint, here } from '../here.ts'
import { releaseView } from '../parts/release-view.ts'
import { showInProject } from '../project-frame.ts'

await showInProject('Releases', async ({ id, path_with_namespace: full }) => {
  const { rest: tag } = here.named
  const at =
    tag === undefined
      ? endpoint`/projects/${id}/releases/permalink/latest`
      : endpoint`/projects/${id}/releases/${tag}`
  const release = await read<Release>(at, { include_html_description: true })
  return { title: release.name, body: [releaseView(full, release)] }
})
