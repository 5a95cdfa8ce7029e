import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/**
 * Whether the job `j` is of the latest success of its ref, in a project that keeps the artifacts of such.
 * `instance`: the setting `keep_latest_artifact`, without which no project does.
 */
export function isOfKeptSuccess(instance: boolean): RawBuilder<boolean> {
  if (!instance) return sql`false`
  return sql`exists (
    select from projects keeping join ci_pipelines kept on kept.id = j.pipeline_id
    where keeping.id = j.project_id and coalesce((keeping.settings ->> 'keep_latest_artifact')::boolean, true)
      and kept.status = 'success' and kept.source <> 'parent_pipeline' and not exists (
        select from ci_pipelines newer
        where newer.project_id = kept.project_id and newer.ref = kept.ref and newer.tag = kept.tag
          and newer.iid > kept.iid and newer.status = 'success' and newer.source <> 'parent_pipeline'))`
}

/** Whether the artifact `a` of the job `j` is there to be had. */
export function isAvailable(instance: boolean): RawBuilder<boolean> {
  return sql`(a.expire_at is null or a.expire_at > now() or ${isOfKeptSuccess(instance)})`
}
