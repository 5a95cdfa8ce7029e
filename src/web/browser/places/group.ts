import { readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group, Project } from '../entities.ts'
import { showInGroup } from '../group-frame.ts'
import { address } from '../here.ts'
import { groupList } from '../parts/group-list.ts'
import { markdown } from '../parts/markdown.ts'
import { pageWanted } from '../parts/pager.ts'
import { projectList } from '../parts/project-list.ts'
import { title } from '../parts/title.ts'
import { me } from '../session.ts'

const { h2 } = tags

await showInGroup('Projects', async (group, at) => {
  const [user, below, projects] = await Promise.all([
    me(),
    readPage<Group>(`${at}/subgroups`, { per_page: 100 }),
    readPage<Project>(`${at}/projects`, { order_by: 'last_activity_at', page: pageWanted() }),
  ])
  return {
    title: '',
    body: [
      title(
        group.name,
        user?.can_create_project === true && {
          words: 'New project',
          href: `${address`/projects/new`}?namespace_id=${group.id}`,
        },
      ),
      await markdown(group.description ?? ''),
      below.items.length > 0 && [h2('Groups in it'), groupList(below)],
      h2('Projects'),
      projectList(projects, 'There are no projects in this group, or none that you may see.'),
    ],
  }
})
