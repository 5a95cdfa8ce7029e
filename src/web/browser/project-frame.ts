import { read, readIfThere } from './api.ts'
import { tags, type Child } from './dom.ts'
import type { Group, Project } from './entities.ts'
import { show, type Content } from './frame.ts'
import { address, endpoint, named, slashed } from './here.ts'
import { tabs } from './parts/tabs.ts'
import { me } from './session.ts'

const { a, div, span, strong } = tags

/** The places of a project, the setting that closes each (without one only users are told), and where each is below the project. */
const places = [
  ['Code', 'repository_access_level', ''],
  ['Commits', 'repository_access_level', '/-/commits'],
  ['Branches', 'repository_access_level', '/-/branches'],
  ['Tags', 'repository_access_level', '/-/tags'],
  ['Issues', 'issues_access_level', '/-/issues'],
  ['Merge requests', 'merge_requests_access_level', '/-/merge_requests'],
  ['Pipelines', 'builds_access_level', '/-/pipelines'],
  ['Environments', 'environments_access_level', '/-/environments'],
  ['Releases', 'releases_access_level', '/-/releases'],
  ['Wiki', 'wiki_access_level', '/-/wikis'],
  ['Members', undefined, '/-/project_members'],
] as const

type ProjectPlace = (typeof places)[number][0]

/** Draws a page of the project that the address names. `current`: the place it belongs to. */
export async function showInProject(
  current: ProjectPlace,
  make: (project: Project) => Promise<Omit<Content, 'head'>>,
): Promise<void> {
  await show(async () => {
    const project = await readProject(named('project'))
    const [{ title, body }, user] = await Promise.all([make(project), me()])
    const whole = project.name_with_namespace
    return {
      title: title === '' ? whole : `${title} · ${whole}`,
      head: projectHead(project, current, user !== undefined),
      body,
    }
  })
}

/** Groups within groups are known by addresses like those of projects, too. */
async function readProject(path: string): Promise<Project> {
  const project = await readIfThere<Project>(endpoint`/projects/${path}`)
  if (project !== undefined) return project
  await read<Group>(endpoint`/groups/${path}`)
  location.replace(address`/groups/${slashed(path)}`)
  return new Promise(() => undefined)
}

function projectHead(project: Project, current: ProjectPlace, isUser: boolean): Child {
  const path = project.path_with_namespace
  return [
    div(
      { className: 'where' },
      crumbs(project),
      span({ className: 'badge' }, project.visibility),
      project.archived === true && span({ className: 'badge' }, 'archived'),
    ),
    tabs(
      'Places of the project',
      places
        .filter(([, access]) => (access === undefined ? isUser : project[access] !== 'disabled'))
        .map(([name, , below]) => [name, address`/${slashed(path)}` + below]),
      current,
    ),
  ]
}

/** The groups that something lies in, each leading to itself. */
function crumbs({ path_with_namespace, name_with_namespace, namespace }: Project): Child {
  const names = name_with_namespace.split(' / ')
  const parts = path_with_namespace.split('/')
  return names.map((name, index) => {
    const path = parts.slice(0, index + 1).join('/')
    const isProject = index === parts.length - 1
    const href =
      isProject || namespace.kind === 'user' ? address`/${slashed(path)}` : address`/groups/${slashed(path)}`
    return [index > 0 && span({ className: 'soft' }, ' / '), a({ href }, isProject ? strong(name) : name)]
  })
}
