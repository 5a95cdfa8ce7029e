import { sql } from '../../../kernel/db/index.ts'
import { endpoint, may, project as projectKind, subjectRequestsReadable } from '../../../access/index.ts'
import {
  Answer,
  Fields,
  Flag,
  ListOf,
  Page,
  rows as readRows,
  type Endpoint,
  type Read,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, invalid, refused } from '../../../kernel/errors/index.ts'
import {
  findPipeline,
  PipelineDetail,
  pipelineDetail,
  PipelineSummary,
  pipelineSummary,
  pipelineSummaryColumns,
  type PipelineSummaryRow,
} from '../../pipelines/index.ts'
import { createRequestPipeline, placeForPipeline } from '../pipelines/create.ts'
import { readableOne } from '../reading/one.ts'
import type { MergeRequestServices } from '../services.ts'
import { iid, readingOne, requestPath, writingOne } from './reading.ts'

type Found = PipelineSummaryRow & { readonly full_path: string }

/** Those that ran for it, and those of its commits on its branch; newest first. */
function pipelinesOf(number: number): Read<{ readonly pipelines: readonly Found[] }> {
  return readRows(sql`
    select coalesce((
      select json_agg(found order by found.id desc) from (
        select ${pipelineSummaryColumns}, place.full_path
        from ci_pipelines p join projects place on place.id = p.project_id
        where p.merge_request_id = m.id
        union
        select ${pipelineSummaryColumns}, place.full_path
        from merge_request_versions v cross join lateral unnest(v.commits) brought (sha)
          join ci_pipelines p on p.project_id = m.source_project_id and p.sha = brought.sha
          join projects place on place.id = p.project_id
        where v.merge_request_id = m.id and p.ref = m.source_branch and not p.tag and p.merge_request_id is null
          and p.source <> 'parent_pipeline') found), '[]') as pipelines
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${number} and ${subjectRequestsReadable}`)
}

export function pipelineEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, externalUrl } = services
  return [
    endpoint({
      ...readingOne,
      path: `${requestPath}/pipelines`,
      summary: 'List the pipelines of a merge request',
      paged: true,
      params: Fields(iid),
      answers: ListOf(PipelineSummary),
      read: ({ params }) => pipelinesOf(params.merge_request_iid),
      async handle({ actor, project, rows, page: { offset, limit } }) {
        const pipelines = may(actor, 'read_pipeline', project) ? rows[0]!.pipelines : []
        const shown = pipelines
          .slice(offset, offset + limit)
          .map((row) => pipelineSummary(row, { fullPath: row.full_path }, externalUrl()))
        return new Page(shown, { total: pipelines.length })
      },
    }),

    endpoint({
      method: 'POST',
      path: `${requestPath}/pipelines`,
      summary: 'Create a pipeline for a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({
        ...iid,
        async: Flag({ default: false, description: 'Answer 202 at once, with nothing' }),
      }),
      status: 200,
      answers: PipelineDetail,
      refuses: {
        400: 'The pipeline cannot be created; `base` says why',
        405: 'The configuration has no jobs for merge requests',
      },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        const place = await placeForPipeline(services, actor, project, row)
        if (place === undefined) throw forbidden()
        const made = await createRequestPipeline(services, actor, place, row)
        if ('refused' in made) {
          if (made.nothing === true) throw refused(405, '405 Method Not Allowed')
          throw invalid({ base: [made.refused ?? 'Pipeline could not be created'] })
        }
        if (params.async) return new Answer(202)
        const pipeline = await findPipeline(db.writer, made.id)
        if (pipeline === undefined) throw forbidden()
        return pipelineDetail(pipeline, place, services)
      },
    }),
  ]
}
