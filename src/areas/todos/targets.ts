import type { Actor } from '../../access/index.ts'
import type { Target } from './entities.ts'
import type { TodoServices } from './index.ts'
import { kinds, type TodoKind, type TodoRow } from './store.ts'

/** The things of one kind with these ids that the caller may read, as the API shows them. */
export type TargetLoader = (
  actor: Actor,
  ids: readonly number[],
) => Promise<ReadonlyMap<number, { readonly title: string; readonly web_url: string }>>

export type TargetLoaders = Readonly<Record<Exclude<TodoKind, 'Commit'>, TargetLoader>>

/** Finds what to-dos are about: a statement for each kind among them. */
export async function targetsOf(
  { targets, externalUrl }: TodoServices,
  actor: Actor,
  todos: readonly TodoRow[],
): Promise<(row: TodoRow) => Target | undefined> {
  const found = new Map<TodoKind, Awaited<ReturnType<TargetLoader>>>()
  for (const kind of kinds) {
    if (kind === 'Commit') continue
    const ids = todos.filter((row) => row.target_kind === kind).map((row) => row.target_id!)
    if (ids.length > 0) found.set(kind, await targets[kind](actor, [...new Set(ids)]))
  }
  return (row) => {
    if (row.target_kind === 'Commit') return commit(row, externalUrl())
    const entity = found.get(row.target_kind)?.get(row.target_id!)
    return entity && { title: entity.title, web_url: entity.web_url, entity }
  }
}

function commit({ commit_sha: sha, project }: TodoRow, externalUrl: string): Target {
  const web_url = `${externalUrl}/${project?.full_path ?? ''}/-/commit/${sha ?? ''}`
  const short = (sha ?? '').slice(0, 8)
  return { title: short, web_url, entity: { id: sha, short_id: short, web_url } }
}
