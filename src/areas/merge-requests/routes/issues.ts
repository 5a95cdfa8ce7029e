import { endpoint } from '../../../access/index.ts'
import { listCommits, type Oid } from '../../../git/index.ts'
import { Fields, ListOf, Page, type Endpoint } from '../../../kernel/endpoint/index.ts'
import {
  closedBy,
  findReferenced,
  Issue,
  issue,
  mentionedIn,
  type IssueReference,
} from '../../issues/index.ts'
import { readableOne } from '../reading/one.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { iid, readingOne, requestPath } from './reading.ts'

const mostCommits = 100

export function issueEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, places, externalUrl } = services
  const list = (
    path: string,
    summary: string,
    referencesOf: (row: MergeRequestRow, messages: () => Promise<string[]>) => Promise<IssueReference[]>,
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
        const messages = async (): Promise<string[]> => {
          const range = { revs: [row.head_sha as Oid], not: [row.start_sha as Oid], limit: mostCommits }
          return (await listCommits(places.of(project), range)).map(({ message }) => message)
        }
        const found = await findReferenced(db.reader, actor, project, await referencesOf(row, messages))
        const shown = found
          .slice(offset, offset + limit)
          .map((one) => issue(one, { externalUrl: externalUrl(), from: project.fullPath }))
        return new Page(shown, { total: found.length })
      },
    })
  return [
    list('closes_issues', 'List the issues that a merge request closes when it is merged', async (row) =>
      closedBy(row.description ?? ''),
    ),
    list(
      'related_issues',
      'List the issues that a merge request, or one of its commits, speaks of',
      async (row, messages) =>
        mentionedIn([row.title, row.description ?? '', ...(await messages())].join('\n')),
    ),
  ]
}
