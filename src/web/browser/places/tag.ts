import { read } from '../api.ts'
import { tags } from '../dom.ts'
import type { Tag } from '../entities.ts'
import { endpoint, named } from '../here.ts'
import { commitLine } from '../parts/commit-line.ts'
import { treeAddress } from '../parts/tree-view.ts'
import { showInProject } from '../project-frame.ts'

const { a, div, h1, p, pre } = tags

await showInProject('Tags', async ({ id, path_with_namespace: full }) => {
  const { name, message, commit } = await read<Tag>(
    endpoint`/projects/${id}/repository/tags/${named('rest')}`,
  )
  return {
    title: name,
    body: [
      h1(name),
      message !== null && message !== '' && pre({ className: 'message' }, message),
      div({ className: 'note' }, commitLine(full, commit)),
      p(a({ href: treeAddress(full, { ref: name, path: '' }) }, 'The files as they were')),
    ],
  }
})
