import type { Page } from '../api.ts'
import { tags, type Child } from '../dom.ts'
import type { Project } from '../entities.ts'
import { address, slashed } from '../here.ts'
import { avatar } from './avatar.ts'
import { pager } from './pager.ts'
import { ago } from './time.ts'

const { a, li, p, span, ul } = tags

/** Projects, each leading to itself. `none`: what to say where there are none. */
export function projectList(page: Page<Project>, none: string): Child {
  if (page.items.length === 0) return p({ className: 'soft' }, none)
  return [
    ul(
      { className: 'rows' },
      page.items.map((project) =>
        li(
          avatar(project),
          ' ',
          a(
            { className: 'subject', href: address`/${slashed(project.path_with_namespace)}` },
            project.name_with_namespace,
          ),
          span({ className: 'badge' }, project.visibility),
          p({ className: 'soft' }, project.description, ' ', ago(project.last_activity_at)),
        ),
      ),
    ),
    pager(page),
  ]
}
