import { readPage } from '../api.ts'
import type { Project } from '../entities.ts'
import { show } from '../frame.ts'
import { address, endpoint } from '../here.ts'
import { finder, searched } from '../parts/finder.ts'
import { pageWanted } from '../parts/pager.ts'
import { projectList } from '../parts/project-list.ts'
import { tabs } from '../parts/tabs.ts'
import { title } from '../parts/title.ts'
import { me } from '../session.ts'

const mine = location.href.startsWith(address`/dashboard`)

await show(async () => {
  const [user, projects] = await Promise.all([
    me(),
    readPage<Project>(endpoint`/projects`, {
      membership: mine ? true : undefined,
      search: searched(),
      order_by: 'last_activity_at',
      page: pageWanted(),
    }),
  ])
  return {
    title: mine ? 'My projects' : 'Projects',
    body: [
      title(
        'Projects',
        user?.can_create_project === true && { words: 'New project', href: address`/projects/new` },
      ),
      user !== undefined &&
        tabs(
          'Which projects',
          [
            ['All', address`/explore`],
            ['Mine', address`/dashboard/projects`],
          ],
          mine ? 'Mine' : 'All',
        ),
      finder('Name of a project'),
      projectList(projects, 'There are no such projects, or none that you may see.'),
    ],
  }
})
