import { sql } from '../../kernel/db/index.ts'
import { countedPast, page, rows, windowOf, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { jobJson, type JobRow } from '../jobs/index.ts'
import { upcomingJobs } from '../pipelines/index.ts'

export interface ResourceGroupRow {
  readonly id: number
  readonly key: string
  readonly process_mode: string
  readonly created_at: string
  readonly updated_at: string
}

const columns = sql`g.id, g.key, g.process_mode, g.created_at, g.updated_at`

export function list(input: PageInput): Read<ResourceGroupRow> {
  return page(
    { columns, from: sql`from ci_resource_groups g where g.project_id = subject.id`, order: sql`g.id` },
    input,
  )
}

export function one(key: string): Read<ResourceGroupRow> {
  return rows(
    sql`select ${columns} from ci_resource_groups g where g.project_id = subject.id and g.key = ${key}`,
  )
}

/** One row where the group exists, with the page of its jobs. */
export function upcoming(key: string, { limit, offset }: PageInput): Read<{ total: number; jobs: JobRow[] }> {
  return rows(sql`
    select (select count(*) from (${upcomingJobs(sql`j.id`)} ${countedPast({ limit, offset })}) c) as total, coalesce((
      select json_agg(${jobJson(sql`w.id`)} order by w.place) from (
        select n.id, row_number() over () as place
        from (${upcomingJobs(sql`j.id`)} ${windowOf({ offset })}) n limit ${limit}) w), '[]') as jobs
    from ci_resource_groups g where g.project_id = subject.id and g.key = ${key}`)
}
