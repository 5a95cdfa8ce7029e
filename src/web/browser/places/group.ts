import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group, Project } from '../entities.ts'
import { showInGroup } from '../group-frame.ts'
import { groupList } from '../parts/group-list.ts'
import { markdown } from '../parts/markdown.ts'
import { pageWanted } from '../parts/pager.ts'
import { projectList } from '../parts/project-list.ts'

const { h1, h2 } = tags

await showInGroup('Projects', async (group, at) => {
  const [below, projects] = await Promise.all([
    readPage<Group>(`${at}/subgroups`, { per_page: 100 }),
    readPage<Project>(`${at}/projects`, { order_by: 'last_activity_at', page: pageWanted() }),
  ])
  return {
    title: '',
    body: [
      h1(group.name),
      await markdown(group.description ?? ''),
      below.items.length > 0 && [h2('Groups in it'), groupList(below)],
      h2('Projects'),
      projectList(projects, 'There are no projects in this group, or none that you may see.'),
    ],
  }
})
