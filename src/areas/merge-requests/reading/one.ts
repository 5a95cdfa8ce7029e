import type { RawBuilder } from 'kysely'
import {
  actorRow,
  may,
  subjectRequestsReadable,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { subscribedTo } from '../../noteables/index.ts'
import { pipelineDetailColumns, type PipelineRow } from '../../pipelines/index.ts'
import { branchState, rulesColumn, rulesIn, type RuleRow } from '../../protected-branches/index.ts'
import { headPipeline, mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from '../rows.ts'

/** A merge request with all that is shown of a single one. */
export interface DetailRow extends MergeRequestRow {
  readonly rules: readonly RuleRow[]
  readonly head_pipeline: (PipelineRow & { readonly project_path: string }) | null
  readonly files: number | null
  readonly overflow: boolean | null
  readonly subscribed: boolean
  readonly deployed_at: string | null
  readonly merged_before: boolean
}

const asHeadPipeline = sql`(
  select to_json(shown) from (
    select ${pipelineDetailColumns}, place.full_path as project_path
    from (${headPipeline(sql`p.id`)}) newest join ci_pipelines p on p.id = newest.id
      join projects place on place.id = p.project_id left join users u on u.id = p.user_id) shown)`

const participates = sql`(
  m.author_id = actor.id
  or exists (select from merge_request_assignees x where x.merge_request_id = m.id and x.user_id = actor.id)
  or exists (select from merge_request_reviewers x where x.merge_request_id = m.id and x.user_id = actor.id))`

const detailColumns = sql`
  ${mergeRequestColumns}, ${rulesColumn} as rules, ${asHeadPipeline} as head_pipeline,
  version.real_size as files, version.state = 'overflow' as overflow,
  ${subscribedTo('MergeRequest', sql`m.id`, participates)} as subscribed,
  (select min(d.finished_at) from deployments d join environments e on e.id = d.environment_id
    where m.state = 'merged' and d.project_id = m.project_id and d.status = 'success' and e.tier = 'production'
      and d.sha in (m.merge_commit_sha, m.merged_sha)) as deployed_at,
  exists (select from merge_requests o
    where o.author_id = m.author_id and o.project_id = m.project_id and o.state = 'merged') as merged_before`

const detailSource = sql`${mergeRequestSource} left join merge_request_versions version on version.id = m.version_id`

const number = (iid: number): RawBuilder<unknown> => sql`m.project_id = subject.id and m.iid = ${iid}`

/** For whoever may read it; to others it is not there. */
export function readableOne(iid: number): Read<MergeRequestRow> {
  return rows(sql`
    select ${mergeRequestColumns} from ${mergeRequestSource} where ${number(iid)} and ${subjectRequestsReadable}`)
}

export function readableDetail(iid: number): Read<DetailRow> {
  return rows(
    sql`select ${detailColumns} from ${detailSource} where ${number(iid)} and ${subjectRequestsReadable}`,
  )
}

/** With the rules of the project's branches, which say who may merge. */
export function readableWithRules(iid: number): Read<MergeRequestRow & Pick<DetailRow, 'rules'>> {
  return rows(sql`
    select ${mergeRequestColumns}, ${rulesColumn} as rules from ${mergeRequestSource}
    where ${number(iid)} and ${subjectRequestsReadable}`)
}

/** As `readableDetail`, for a row outside of the statement that finds out who asks: after it was written. */
export async function findDetail(db: Reader, id: number, actor: Actor): Promise<DetailRow | undefined> {
  const { rows: found } = await sql<{ row: DetailRow }>`
    select to_json(r) as row from (
      select ${detailColumns} from ${actorRow(actor)} cross join (${detailSource})
        cross join lateral (
          select p.id, n.traversal_ids as line from projects p join namespaces n on n.id = p.namespace_id
          where p.id = m.project_id) subject
      where m.id = ${id}) r`.execute(db)
  return found[0]?.row
}

/** Whether somebody may merge into the target branch of a request. */
export function mayMerge(
  actor: Actor,
  project: ProjectSubject,
  row: Pick<DetailRow, 'rules' | 'target_branch'>,
): boolean {
  const mergesCode = may(actor, 'merge_merge_request', project)
  const state = branchState(row.target_branch, rulesIn([row]), actor, project, mergesCode)
  return state.mayPush || state.mayMerge
}
