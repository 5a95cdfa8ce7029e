import { sql } from '../kernel/db/index.ts'
import { recordNotFound } from '../kernel/errors/index.ts'
import type { ProjectAbility } from './abilities/project.ts'
import { isAdministrator, type Actor } from './actor.ts'
import { Role } from './levels.ts'
import { project, projectColumns, type AccessKind, type ProjectSubject } from './subjects.ts'

/** Names that an image may have below its project. */
const deepest = 2

/** The paths that may be the project of an image, the longest first: the image's own, and up to two names less. */
function possibleProjects(image: string): string[] {
  const parts = image.toLowerCase().split('/')
  return Array.from({ length: deepest + 1 }, (_, less) =>
    parts.slice(0, parts.length - less).join('/'),
  ).filter((path) => path.includes('/'))
}

/** The project of an image that is named by its path: the longest prefix that is a project (completions, 6.6). */
export const imageProject: AccessKind<'project', ProjectSubject, ProjectAbility> = {
  ...project,
  version: null,
  find({ id = '' }) {
    return sql`
      select found.*, false as redirect from (
        select ${projectColumns}
        from routes r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id
        where r.path_key = any (${possibleProjects(id)}::text[]) and not r.redirect
        order by length(r.path_key) desc limit 1) found`
  },
}

/** The project of a repository of images, found by the repository's id. */
export const imageRepository: AccessKind<'project', ProjectSubject, ProjectAbility> = {
  ...project,
  version: null,
  find({ id = '' }) {
    return sql`
      select ${projectColumns}, false as redirect
      from container_repositories c join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id
      where c.id = ${/^\d{1,15}$/.test(id) ? Number(id) : null}`
  },
  missing: recordNotFound,
}

/** Whether the caller's role here passes a rule's level; 60 is passed by administrators only, who pass every one. */
export function mayPassLevel(actor: Actor, { role }: Pick<ProjectSubject, 'role'>, level: number): boolean {
  return isAdministrator(actor) || (level < Role.administrator && role >= level)
}
