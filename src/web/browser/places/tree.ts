import { named } from '../here.ts'
import { refBar } from '../parts/ref-bar.ts'
import { splitRefPath } from '../parts/ref-path.ts'
import { readTree, treeView } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

await showInProject('Code', async (project) => {
  const { found, ...at } = await splitRefPath(named('rest'), (tried) => readTree(project, tried))
  return {
    title: at.path === '' ? at.ref : at.path,
    body: [refBar(project, at), await treeView(project, at, found)],
  }
})
