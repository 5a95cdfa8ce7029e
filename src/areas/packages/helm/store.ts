import { sql } from '../../../kernel/db/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'

export interface ChartRow {
  readonly name: string
  readonly file_name: string
  readonly digest: string
  readonly created_at: string
  readonly chart: Readonly<Record<string, unknown>>
}

/** The newest charts of a channel, each version once. */
export function newestCharts(channel: string, most: number): Read<ChartRow> {
  return rows(sql`
    select k.name, f.file_name, f.digest, f.created_at, f.metadata -> 'chart' as chart
    from packages k join package_files f on f.package_id = k.id
    where k.project_id = subject.id and k.package_type = 'helm' and k.status = 'default'
      and f.metadata ? 'channel' and f.metadata ->> 'channel' = ${channel}
      and not exists (
        select from package_files newer
        where newer.package_id = k.id and newer.id > f.id and newer.metadata ->> 'channel' = ${channel})
    order by f.id desc limit ${most}`)
}
