import { read, readPage } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Group, Project } from '../entities.ts'
import { show } from '../frame.ts'
import { address, endpoint, named, slashed } from '../here.ts'
import { groupList } from '../parts/group-list.ts'
import { markdown } from '../parts/markdown.ts'
import { pageWanted } from '../parts/pager.ts'
import { projectList } from '../parts/project-list.ts'

const { a, div, h1, h2, span, strong } = tags

await show(async () => {
  const at = endpoint`/groups/${named('place')}`
  const [group, below, projects] = await Promise.all([
    read<Group>(at, { with_projects: false }),
    readPage<Group>(`${at}/subgroups`, { per_page: 100 }),
    readPage<Project>(`${at}/projects`, { order_by: 'last_activity_at', page: pageWanted() }),
  ])
  return {
    title: group.full_name,
    head: whereabouts(group),
    body: [
      h1(group.name),
      await markdown(group.description ?? ''),
      below.items.length > 0 && [h2('Groups in it'), groupList(below)],
      h2('Projects'),
      projectList(projects, 'There are no projects in this group, or none that you may see.'),
    ],
  }
})

function whereabouts({ full_name: name, full_path: path, visibility }: Group): Child {
  const names = name.split(' / ')
  const parts = path.split('/')
  return div(
    { className: 'where' },
    names.map((one, index) => [
      index > 0 && span({ className: 'soft' }, ' / '),
      a(
        { href: address`/groups/${slashed(parts.slice(0, index + 1).join('/'))}` },
        index === names.length - 1 ? strong(one) : one,
      ),
    ]),
    span({ className: 'badge' }, visibility),
  )
}
