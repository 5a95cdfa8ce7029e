import type { Asking, Shown } from './asking.ts'
import type { PageArguments } from './connections.ts'
import { globalId, readGlobalId } from './ids.ts'
import { pathOf, user, type ShownUser } from './people.ts'

/** A pipeline, or what lists tell of it. */
export interface ShownPipeline extends Shown {
  readonly iid: number
  readonly project_id: number
  readonly status: string
  readonly web_url: string
}

interface ShownJob extends Shown {
  readonly status: string
  readonly stage: string
  readonly ref: string
  readonly web_url: string
  readonly duration: number | null
}

/** `path`: of the project. */
export async function findPipeline(asking: Asking, path: string, id: unknown): Promise<unknown> {
  const shown = await asking.get<ShownPipeline>(`${path}/pipelines/${readGlobalId(id, 'Ci::Pipeline').id}`)
  return shown === undefined ? null : pipeline(asking, shown)
}

/** `path`: of the list. */
export function listPipelines(
  asking: Asking,
  path: string,
  asked: PageArguments & {
    readonly ref?: string | null
    readonly sha?: string | null
    readonly status?: string | null
  },
): Promise<unknown> {
  const query = { ref: asked.ref, sha: asked.sha, status: asked.status?.toLowerCase() }
  return asking.list(path, query, asked, (row: ShownPipeline) => pipeline(asking, row))
}

export function pipeline(asking: Asking, shown: ShownPipeline): unknown {
  const path = `/projects/${shown.project_id}/pipelines/${shown.id}`
  return {
    ...shown,
    ...asking.rest(shown, path, ['name', 'started_at', 'finished_at', 'duration']),
    id: globalId('Ci::Pipeline', shown.id),
    iid: String(shown.iid),
    status: shown.status.toUpperCase(),
    path: pathOf(shown.web_url),
    user: async () => user((await asking.get<{ readonly user: ShownUser | null }>(path))?.user),
    jobs: (asked: Parameters<typeof listJobs>[2]) => listJobs(asking, `${path}/jobs`, asked),
  }
}

/** `path`: of the project. */
export async function findJob(asking: Asking, path: string, id: unknown): Promise<unknown> {
  const shown = await asking.get<ShownJob>(`${path}/jobs/${readGlobalId(id, 'Ci::Build').id}`)
  return shown === undefined ? null : job(shown)
}

/** `path`: of the list. */
export function listJobs(
  asking: Asking,
  path: string,
  asked: PageArguments & { readonly statuses?: readonly string[] | null },
): Promise<unknown> {
  return asking.list(path, { scope: asked.statuses?.map((status) => status.toLowerCase()) }, asked, job)
}

function job(shown: ShownJob): unknown {
  return {
    ...shown,
    id: globalId('Ci::Build', shown.id),
    status: shown.status.toUpperCase(),
    stage: { name: shown.stage },
    refName: shown.ref,
    webPath: pathOf(shown.web_url),
    duration: shown.duration === null ? null : Math.round(shown.duration),
  }
}
