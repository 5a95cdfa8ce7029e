import { address, endpoint, slashed } from '../here.ts'
import { wikiView } from '../parts/wiki-view.ts'
import { showInProject } from '../project-frame.ts'

await showInProject('Wiki', ({ id, path_with_namespace: full }) =>
  wikiView(endpoint`/projects/${id}/wikis`, address`/${slashed(full)}/-/wikis`),
)
