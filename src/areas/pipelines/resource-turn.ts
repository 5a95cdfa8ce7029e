import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'

export const processModes = ['unordered', 'oldest_first', 'newest_first', 'newest_ready_first'] as const

/**
 * The jobs of a resource group `g` that wait for their turn, whoever is next first. Two of the modes keep the turn for
 * pipelines whose job is not ready yet. Jobs of one pipeline are not ordered, or they might wait for one another.
 */
export function upcomingJobs(columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${columns} from ci_jobs j
    where j.project_id = g.project_id and j.resource_group = g.key and not j.retried
      and j.status in ('created', 'waiting_for_resource')
      and (j.status = 'waiting_for_resource' or g.process_mode in ('oldest_first', 'newest_first'))
    order by
      case g.process_mode when 'oldest_first' then j.pipeline_id
        when 'newest_first' then -j.pipeline_id when 'newest_ready_first' then -j.pipeline_id end,
      j.status = 'created', j.id`
}

export interface UpcomingJob {
  readonly id: number
  readonly pipeline_id: number
  readonly status: string
  readonly kind: string
}

export async function nextInGroup(
  db: Reader,
  projectId: number,
  key: string,
): Promise<UpcomingJob | undefined> {
  const { rows } = await sql<UpcomingJob>`
    select n.id, n.pipeline_id, n.status, n.kind from ci_resource_groups g,
      lateral (${upcomingJobs(sql`j.id, j.pipeline_id, j.status, j.kind`)} limit 1) n
    where g.project_id = ${projectId} and g.key = ${key}`.execute(db)
  return rows[0]
}
