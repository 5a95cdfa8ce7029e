import { endpoint, project as projectKind, type Actor, type ProjectSubject } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Page,
  Timestamp,
  type Endpoint,
  type PageInput,
} from '../../../kernel/endpoint/index.ts'
import { forbidden } from '../../../kernel/errors/index.ts'
import { BasicUser, basicUser } from '../../users/index.ts'
import { MergeRequest } from '../entities.ts'
import { readableDetail } from '../reading/one.ts'
import { participants, reviewers } from '../reading/people.ts'
import type { MergeRequestRow } from '../rows.ts'
import { mayUpdateRequest } from '../rules.ts'
import type { MergeRequestServices } from '../services.ts'
import { showMergeRequest } from '../show.ts'

export const requestPath = '/projects/:id/merge_requests/:merge_request_iid'
export const iid = { merge_request_iid: Id({ description: 'Number of the request within the project' }) }

/** What is the same for all that is read of one request: to whom it is closed it is not there. */
export const readingOne = {
  method: 'GET',
  on: projectKind,
  may: 'read_merge_request',
  anonymous: true,
  record: true,
} as const

/** The same for what is done to one: whether it is there is told before whether the caller may. */
export const writingOne = {
  record: true,
  checks: ['credentials', 'params', 'subject', 'record', 'may'],
} as const

export function readingEndpoints(services: MergeRequestServices): Endpoint[] {
  const { externalUrl } = services
  return [
    endpoint({
      ...readingOne,
      path: requestPath,
      pollable: 10_000,
      summary: 'Get a merge request',
      params: Fields({
        ...iid,
        render_html: Flag({ default: false }),
        include_diverged_commits_count: Flag({ default: false }),
        include_rebase_in_progress: Flag({ default: false }),
      }),
      answers: MergeRequest,
      read: ({ params }) => readableDetail(params.merge_request_iid),
      handle: ({ actor, project, rows, params }) =>
        showMergeRequest(services, actor, project, rows[0]!, params),
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/participants`,
      summary: 'List who takes part in a merge request',
      paged: true,
      params: Fields(iid),
      answers: ListOf(BasicUser),
      read: ({ params }) => participants(params.merge_request_iid),
      handle: async ({ rows, page }) => cut(rows[0]!.people, page, (one) => basicUser(one, externalUrl())),
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/reviewers`,
      summary: 'List the reviewers of a merge request',
      paged: true,
      params: Fields(iid),
      answers: ListOf(
        Fields({
          user: BasicUser,
          state: OneOf(
            'unreviewed',
            'reviewed',
            'requested_changes',
            'approved',
            'unapproved',
            'review_started',
          ),
          created_at: Timestamp(),
        }),
      ),
      read: ({ params }) => reviewers(params.merge_request_iid),
      handle: async ({ rows, page }) =>
        cut(rows[0]!.reviewers, page, (one) => ({ ...one, user: basicUser(one.user, externalUrl()) })),
    }),
  ]
}

/** A page of what was read whole. */
function cut<Row>(
  all: readonly Row[],
  { offset, limit }: PageInput,
  show: (row: Row) => unknown,
): Page<unknown> {
  return new Page(all.slice(offset, offset + limit).map(show), { total: all.length })
}

export function requireUpdateOf(
  actor: Actor,
  project: ProjectSubject,
  row: Pick<MergeRequestRow, 'author_id' | 'assignees'>,
): void {
  if (!mayUpdateRequest(actor, project, row)) throw forbidden()
}
