import type { Asking, Shown } from './asking.ts'
import type { PageArguments } from './connections.ts'
import { globalId } from './ids.ts'
import { findNoteable, issues, listIssues, listMergeRequests, mergeRequests } from './noteables.ts'
import { findJob, findPipeline, listJobs, listPipelines } from './pipelines.ts'
import { listSnippets } from './snippets.ts'

/** A group, or what the namespace of a project tells of it. */
interface ShownGroup extends Shown {
  readonly kind?: 'group' | 'user'
}

interface ShownProject extends Shown {
  readonly path_with_namespace: string
  readonly namespace: ShownGroup
  readonly default_branch?: string | null
  readonly empty_repo?: boolean
}

/** A project has a slash in its full path; anything else could be an id. */
export async function findProject(asking: Asking, fullPath: string): Promise<unknown> {
  if (!fullPath.includes('/')) return null
  const shown = await asking.get<ShownProject>(`/projects/${encodeURIComponent(fullPath)}`)
  return shown === undefined ? null : project(asking, shown)
}

export async function findGroup(asking: Asking, fullPath: string): Promise<unknown> {
  if (/^\d*$/.test(fullPath)) return null
  const shown = await asking.get(groupPath(encodeURIComponent(fullPath)))
  return shown === undefined ? null : group(asking, shown)
}

interface Listed extends PageArguments {
  readonly search?: string | null
}

export function listProjects(
  asking: Asking,
  asked: Listed & { readonly membership?: boolean | null; readonly searchNamespaces?: boolean | null },
): Promise<unknown> {
  const { search, membership, searchNamespaces: search_namespaces } = asked
  const query = { search, membership, search_namespaces, order_by: 'id' }
  return asking.list('/projects', query, asked, (row: ShownProject) => project(asking, row))
}

const groupPath = (id: number | string): string => `/groups/${id}?with_projects=false`

function group(asking: Asking, shown: ShownGroup): unknown {
  return {
    ...shown,
    ...asking.rest(shown, groupPath(shown.id), ['full_name', 'description', 'visibility']),
    id: globalId('Group', shown.id),
    projects: ({ search, includeSubgroups, ...page }: Listed & { readonly includeSubgroups: boolean }) =>
      asking.list(
        `/groups/${shown.id}/projects`,
        { search, include_subgroups: includeSubgroups },
        page,
        (row: ShownProject) => project(asking, row),
      ),
  }
}

function project(asking: Asking, shown: ShownProject): unknown {
  const { id, namespace } = shown
  const path = `/projects/${id}`
  const inGroup = namespace.kind === 'group'
  return {
    ...shown,
    id: globalId('Project', id),
    fullPath: shown.path_with_namespace,
    group: inGroup ? group(asking, namespace) : null,
    namespace: {
      ...namespace,
      id: globalId(inGroup ? 'Group' : 'Namespaces::UserNamespace', namespace.id),
    },
    // Told only to who may read the code.
    repository: shown.default_branch === undefined ? null : repository(asking, shown),
    issue: ({ iid }: { readonly iid: string }) => findNoteable(asking, issues, id, iid),
    issues: (asked: Parameters<typeof listIssues>[2]) => listIssues(asking, `${path}/issues`, asked),
    mergeRequest: ({ iid }: { readonly iid: string }) => findNoteable(asking, mergeRequests, id, iid),
    mergeRequests: (asked: Parameters<typeof listMergeRequests>[2]) =>
      listMergeRequests(asking, `${path}/merge_requests`, asked),
    pipeline: (asked: { readonly id: unknown }) => findPipeline(asking, path, asked.id),
    pipelines: (asked: Parameters<typeof listPipelines>[2]) =>
      listPipelines(asking, `${path}/pipelines`, asked),
    job: (asked: { readonly id: unknown }) => findJob(asking, path, asked.id),
    jobs: (asked: Parameters<typeof listJobs>[2]) => listJobs(asking, `${path}/jobs`, asked),
    snippets: (asked: PageArguments) => listSnippets(asking, `${path}/snippets`, asked),
  }
}

function repository(asking: Asking, { id, default_branch, empty_repo }: ShownProject): unknown {
  return {
    exists: true,
    // The form for visitors does not tell.
    empty: async () => empty_repo ?? (await asking.project(id))?.repositoryEmpty ?? false,
    rootRef: default_branch,
  }
}
