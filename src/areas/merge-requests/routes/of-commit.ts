import { endpoint, project as projectKind } from '../../../access/index.ts'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { Fields, ListOf, Page, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { commitNamed } from '../../repository/index.ts'
import { ListedMergeRequest, listedMergeRequest } from '../entities.ts'
import { mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { surroundings } from '../show.ts'

/** The requests into a project that bring a commit, or that made it, newest first. */
async function requestsWith(db: Reader, projectId: number, sha: string): Promise<MergeRequestRow[]> {
  const { rows } = await sql<{ row: MergeRequestRow }>`
    select to_json(r) as row from (
      select ${mergeRequestColumns} from ${mergeRequestSource}
      where m.project_id = ${projectId} and m.id in (
        select v.merge_request_id from merge_request_versions v where v.commits @> array[${sha}::text]
        union select o.id from merge_requests o where o.project_id = ${projectId} and o.merge_commit_sha = ${sha}
        union select o.id from merge_requests o where o.project_id = ${projectId} and o.squash_commit_sha = ${sha})
      order by m.id desc) r`.execute(db)
  return rows.map(({ row }) => row)
}

export function ofCommitEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, places } = services
  return [
    endpoint({
      method: 'GET',
      path: '/projects/:id/repository/commits/:sha/merge_requests',
      summary: 'List the merge requests that brought a commit',
      on: projectKind,
      may: 'read_merge_request',
      anonymous: true,
      paged: true,
      params: Fields({}),
      answers: ListOf(ListedMergeRequest),
      refuses: { 404: 'No such commit' },
      async handle({ project, params, page: { offset, limit } }) {
        const { commit } = await commitNamed(places, project, params.sha)
        const found = await requestsWith(db.reader, project.id, commit.oid)
        const about = surroundings(services)
        return new Page(
          found.slice(offset, offset + limit).map((row) => listedMergeRequest(row, about)),
          { total: found.length },
        )
      },
    }),
  ]
}
