import { endpoint, type ProjectSubject } from '../../../access/index.ts'
import { Fields, ListOf, Page, type Endpoint } from '../../../kernel/endpoint/index.ts'
import {
  closedBy,
  findReferenced,
  Issue,
  issue,
  issueView,
  mentionedIn,
  type IssueReference,
} from '../../issues/index.ts'
import { textsOf } from '../issues.ts'
import { readableOne } from '../reading/one.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { iid, readingOne, requestPath } from './reading.ts'

export function issueEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db } = services
  const list = (
    path: string,
    summary: string,
    referencesOf: (text: string, row: MergeRequestRow, project: ProjectSubject) => IssueReference[],
  ): Endpoint =>
    endpoint({
      ...readingOne,
      path: `${requestPath}/${path}`,
      summary,
      paged: true,
      params: Fields(iid),
      answers: ListOf(Issue),
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ actor, project, rows, page: { offset, limit } }) {
        const row = rows[0]!
        const text = await textsOf(services, project, row)
        const found = await findReferenced(db.reader, actor, project, referencesOf(text, row, project))
        const shown = found
          .slice(offset, offset + limit)
          .map((one) => issue(one, issueView(services, project.fullPath)))
        return new Page(shown, { total: found.length })
      },
    })
  return [
    list(
      'closes_issues',
      'List the issues that a merge request closes when it is merged into the default branch',
      (text, row, project) => (row.target_branch === project.defaultBranch ? closedBy(text) : []),
    ),
    list('related_issues', 'List the issues that a merge request, or one of its commits, speaks of', (text) =>
      mentionedIn(text),
    ),
  ]
}
