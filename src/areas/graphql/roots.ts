import type { Asking } from './asking.ts'
import { readGlobalId } from './ids.ts'
import { mutations } from './mutations.ts'
import { findNoteable, issues, mergeRequests, type Noteables } from './noteables.ts'
import { currentUser, findUser } from './people.ts'
import { findGroup, findProject, listProjects } from './projects.ts'
import { findSnippets } from './snippets.ts'
import { noteableById } from './store.ts'

interface Named {
  readonly fullPath: string
}

/** What every query and mutation begins with. */
export function roots(asking: Asking): object {
  const byId =
    (noteables: Noteables) =>
    async ({ id }: { readonly id: unknown }): Promise<unknown> => {
      const place = await noteableById(asking.services.db.reader, readGlobalId(id, noteables.kind))
      return place === undefined ? null : findNoteable(asking, noteables, place.project_id, place.iid)
    }
  return {
    currentUser: () => currentUser(asking),
    user: (asked: Parameters<typeof findUser>[1]) => findUser(asking, asked),
    group: ({ fullPath }: Named) => findGroup(asking, fullPath),
    project: ({ fullPath }: Named) => findProject(asking, fullPath),
    projects: (asked: Parameters<typeof listProjects>[1]) => listProjects(asking, asked),
    issue: byId(issues),
    mergeRequest: byId(mergeRequests),
    snippets: (asked: Parameters<typeof findSnippets>[1]) => findSnippets(asking, asked),
    metadata: () => asking.get('/metadata'),
    ...mutations(asking),
  }
}
