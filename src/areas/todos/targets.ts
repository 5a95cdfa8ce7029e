import type { Actor } from '../../access/index.ts'
import type { Target } from './entities.ts'
import type { TodoServices } from './index.ts'
import type { TodoKind, TodoRow } from './store.ts'

const noteables = ['Issue', 'MergeRequest', 'Epic'] as const

/** The things of one kind with these ids that the caller may read, as the API shows them. */
export type TargetLoader = (
  actor: Actor,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, { readonly title: string; readonly web_url: string }>>

export type TargetLoaders = Readonly<Record<(typeof noteables)[number], TargetLoader>>

/** Finds what to-dos are about: a statement for each kind among them. */
export async function targetsOf(
  { targets, externalUrl }: TodoServices,
  actor: Actor,
  todos: readonly TodoRow[],
): Promise<(row: TodoRow) => Target | undefined> {
  const found = new Map<TodoKind, Awaited<ReturnType<TargetLoader>>>()
  for (const kind of noteables) {
    const ids = todos.filter((row) => row.target_kind === kind).map((row) => row.target_id!)
    if (ids.length > 0) found.set(kind, await targets[kind](actor, [...new Set(ids)]))
  }
  return (row) => {
    if (row.target_kind === 'Commit') return commit(row, externalUrl())
    if (row.target_kind === 'Project' || row.target_kind === 'Namespace') return place(row, externalUrl())
    const entity = found.get(row.target_kind)?.get(row.target_id!)
    return entity && { title: entity.title, web_url: entity.web_url, entity }
  }
}

function commit({ commit_sha: sha, project }: TodoRow, externalUrl: string): Target {
  const web_url = `${externalUrl}/${project?.full_path ?? ''}/-/commit/${sha ?? ''}`
  const short = (sha ?? '').slice(0, 8)
  return { title: short, web_url, entity: { id: sha, short_id: short, web_url } }
}

/** Where somebody asks to be let in, with the page on which that is decided. */
function place({ project, group }: TodoRow, externalUrl: string): Target | undefined {
  const found = project ?? group
  if (found === null) return undefined
  const { id, name, path, full_path } = found
  const asked = `-/${project === null ? 'group' : 'project'}_members?tab=access_requests`
  const home = `${externalUrl}/${project === null ? 'groups/' : ''}${full_path}`
  const named =
    project === null
      ? { full_name: group!.full_name, full_path }
      : { name_with_namespace: project.full_name, path_with_namespace: full_path }
  return {
    title: full_path,
    web_url: `${home}/${asked}`,
    entity: { id, name, path, ...named, web_url: home },
  }
}
