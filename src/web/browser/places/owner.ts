import { read, readPage } from '../api.ts'
import { tags } from '../dom.ts'
import type { Group, Person, Project } from '../entities.ts'
import { show, type Content } from '../frame.ts'
import { address, endpoint, named } from '../here.ts'
import { avatar } from '../parts/avatar.ts'
import { pageWanted } from '../parts/pager.ts'
import { projectList } from '../parts/project-list.ts'

const { h1, h2, p } = tags

await show(async () => {
  const name = named('owner')
  const { items } = await readPage<Person>(endpoint`/users`, { username: name })
  const [person] = items
  if (person !== undefined) return profile(person)
  // Groups are known by their bare path, too.
  await read<Group>(endpoint`/groups/${name}`, { with_projects: false })
  location.replace(address`/groups/${name}`)
  return new Promise<Content>(() => undefined)
})

async function profile(person: Person): Promise<Content> {
  const projects = await readPage<Project>(endpoint`/users/${person.id}/projects`, {
    order_by: 'last_activity_at',
    page: pageWanted(),
  })
  return {
    title: person.name,
    body: [
      h1(avatar(person), ' ', person.name),
      p({ className: 'soft' }, `@${person.username}`),
      h2('Projects'),
      projectList(projects, 'There are no projects of this user, or none that you may see.'),
    ],
  }
}
