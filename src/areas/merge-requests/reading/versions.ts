import { sql } from '../../../kernel/db/index.ts'
import { subjectRequestsReadable } from '../../../access/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'

export interface VersionRow {
  readonly id: number
  readonly merge_request_id: number
  readonly head_sha: string
  readonly base_sha: string | null
  readonly start_sha: string
  readonly state: 'collected' | 'overflow' | 'empty'
  readonly real_size: number
  readonly commits_count: number
  readonly patch_id_sha: string | null
  readonly created_at: string
}

const columns = sql`
  v.id, v.merge_request_id, v.head_sha, v.base_sha, v.start_sha, v.state, v.real_size, v.commits_count,
  v.patch_id_sha, v.created_at`

/** Newest first. */
export function readableVersions(iid: number): Read<{ readonly versions: readonly VersionRow[] }> {
  return rows(sql`
    select coalesce((
      select json_agg(found order by found.id desc) from (
        select ${columns} from merge_request_versions v where v.merge_request_id = m.id) found), '[]') as versions
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`)
}

/** `version`: null where the request has none of this id. */
export function readableVersion(iid: number, id: number): Read<{ readonly version: VersionRow | null }> {
  return rows(sql`
    select (
      select to_json(found) from (
        select ${columns} from merge_request_versions v where v.merge_request_id = m.id and v.id = ${id}) found)
      as version
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`)
}
