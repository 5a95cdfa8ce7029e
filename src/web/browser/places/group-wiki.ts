import { showInGroup } from '../group-frame.ts'
import { address, slashed } from '../here.ts'
import { wikiView } from '../parts/wiki-view.ts'

await showInGroup('Wiki', ({ full_path: path }, at) =>
  wikiView(`${at}/wikis`, address`/groups/${slashed(path)}/-/wikis`),
)
