import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  requireUnmodified,
  Text,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { createMergeRequest, targetFor } from '../create.ts'
import { MergeRequest } from '../entities.ts'
import { readableWithRules } from '../reading/one.ts'
import { removeMergeRequest } from '../remove.ts'
import type { MergeRequestServices } from '../services.ts'
import { showAgain } from '../show.ts'
import { updateMergeRequest } from '../update.ts'
import { iid, requestPath, requireUpdateOf, writingOne } from './reading.ts'

const people = (description: string) =>
  Optional(ListOf(Id(), { commaSeparated: true, single: true, description }))
const labels = Optional(ListOf(Text(), { commaSeparated: true, single: true }))

const settable = {
  description: Optional(Nullable(Text({ description: 'At most 1,048,576 characters' }))),
  assignee_id: Optional(Nullable(Id({ description: 'One person; 0 or nothing: nobody' }))),
  assignee_ids: people('Several people, on paid plans; 0: nobody'),
  reviewer_ids: people('Who is asked to look at it; 0: nobody'),
  labels,
  milestone_id: Optional(Nullable(Id({ description: '0: none' }))),
  remove_source_branch: Optional(Nullable(Flag({ description: 'Once it is merged' }))),
  squash: Optional(Flag({ description: 'Bring one commit in place of all' })),
  allow_collaboration: Optional(
    Flag({ description: 'Whoever may merge may push to the branch in the fork' }),
  ),
  allow_maintainer_to_push: Optional(Flag({ deprecated: true, description: 'Use `allow_collaboration`' })),
  merge_after: Optional(Nullable(DateTime({ description: 'It is not merged before' }))),
  approvals_before_merge: Optional(
    Int({ minimum: 0, maximum: 100, deprecated: true, description: 'Use approval rules' }),
  ),
}

export function writingEndpoints(services: MergeRequestServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/projects/:id/merge_requests',
      summary: 'Create a merge request',
      description:
        'From a branch of the project, into another one of it or of the project that it was forked from.',
      on: projectKind,
      may: 'create_merge_request_from',
      params: Fields({
        source_branch: Text({ blank: false }),
        target_branch: Text({ blank: false }),
        title: Text({ blank: false }),
        target_project_id: Optional(Id()),
        ...settable,
      }),
      rules: { mutuallyExclusive: [['assignee_id', 'assignee_ids']] },
      answers: MergeRequest,
      refuses: {
        400: 'A branch that does not exist',
        404: 'No such target project',
        409: 'There is an open request for these branches',
        422: 'The projects have nothing to do with each other, or both branches are one',
      },
      async handle({ actor, project, params }) {
        const target = await targetFor(services, actor, project, params.target_project_id)
        const id = await createMergeRequest(services, actor, {
          source: project,
          target,
          sourceBranch: params.source_branch,
          targetBranch: params.target_branch,
          title: params.title.trim(),
          description: params.description ?? null,
          assigneeIds: peopleOf(params.assignee_ids, params.assignee_id) ?? [],
          reviewerIds: peopleOf(params.reviewer_ids) ?? [],
          labels: params.labels,
          squash: params.squash ?? squashesByDefault(target),
          removeSourceBranch: params.remove_source_branch ?? null,
          allowCollaboration: params.allow_collaboration ?? params.allow_maintainer_to_push ?? false,
          mergeAfter: params.merge_after ?? null,
          milestoneId: params.milestone_id ?? null,
          approvals: params.approvals_before_merge,
        })
        return showAgain(services, actor, target, id)
      },
    }),

    endpoint({
      method: 'PUT',
      path: requestPath,
      summary: 'Change, close or reopen a merge request',
      on: projectKind,
      may: 'read_project',
      params: Fields({
        ...iid,
        title: Optional(Text()),
        target_branch: Optional(Text()),
        state_event: Optional(OneOf('close', 'reopen')),
        add_labels: labels,
        remove_labels: labels,
        discussion_locked: Optional(Nullable(Flag())),
        ...settable,
      }),
      rules: {
        mutuallyExclusive: [['assignee_id', 'assignee_ids']],
        atLeastOneOf: [
          [
            'assignee_id',
            'assignee_ids',
            'reviewer_ids',
            'description',
            'discussion_locked',
            'labels',
            'add_labels',
            'remove_labels',
            'milestone_id',
            'remove_source_branch',
            'allow_collaboration',
            'allow_maintainer_to_push',
            'squash',
            'target_branch',
            'title',
            'state_event',
            'merge_after',
            'approvals_before_merge',
          ],
        ],
      },
      answers: MergeRequest,
      ...writingOne,
      refuses: { 409: 'Reopened beside another one for the same branches', 422: 'It cannot be changed so' },
      read: ({ params }) => readableWithRules(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        await updateMergeRequest(services, actor, project, row, {
          ...params,
          assigneeIds: peopleOf(params.assignee_ids, params.assignee_id),
          reviewerIds: peopleOf(params.reviewer_ids),
        })
        return showAgain(services, actor, project, row.id)
      },
    }),

    endpoint({
      method: 'DELETE',
      path: requestPath,
      summary: 'Delete a merge request',
      on: projectKind,
      may: 'destroy_merge_request',
      params: Fields(iid),
      answers: null,
      ...writingOne,
      refuses: whenChanged,
      read: ({ params }) => readableWithRules(params.merge_request_iid),
      async handle({ project, rows, request }) {
        const row = rows[0]!
        requireUnmodified(request, row.updated_at)
        await removeMergeRequest(services, project, row)
      },
    }),
  ]
}

/** `0` stands for nobody, as nothing does. */
function peopleOf(
  several: readonly number[] | undefined,
  one?: number | null,
): readonly number[] | undefined {
  if (several !== undefined) return several.filter((id) => id !== 0)
  return one === undefined ? undefined : one === null || one === 0 ? [] : [one]
}

function squashesByDefault({ settings }: ProjectSubject): boolean {
  return settings['squash_option'] === 'always' || settings['squash_option'] === 'default_on'
}
