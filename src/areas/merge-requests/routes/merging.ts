import { endpoint, may, project as projectKind, userOf, type ProjectSubject } from '../../../access/index.ts'
import { Fields, Flag, OneOf, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { conflict, forbidden, notAcceptable, refused, unauthorized } from '../../../kernel/errors/index.ts'
import { headIn } from '../branches.ts'
import { MergeRequest } from '../entities.ts'
import { cancelScheduled, canWait, pipelineRuns, scheduleMerge } from '../merging/auto.ts'
import { checkMergeability } from '../merging/check.ts'
import { branchNotMergeable, merge, notMergeable } from '../merging/merge.ts'
import { makeMergeRef } from '../merging/merge-ref.ts'
import { rebaseRefusal } from '../merging/rebase-refusal.ts'
import { startRebase } from '../merging/rebase.ts'
import { failingChecks } from '../merging/status.ts'
import { readableWithRules, mayMerge, readableOne } from '../reading/one.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { circumstances, showAgain } from '../show.ts'
import { refreshMergeRequest } from '../versions/refresh.ts'
import { iid, readingOne, requestPath, writingOne } from './reading.ts'

const automatic = Optional(Flag({ description: 'Merge once all checks pass' }))

export function mergingEndpoints(services: MergeRequestServices): Endpoint[] {
  return [
    endpoint({
      method: 'PUT',
      path: `${requestPath}/merge`,
      summary: 'Merge a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({
        ...iid,
        merge_commit_message: Optional(Text()),
        squash_commit_message: Optional(Text()),
        squash: Optional(Flag()),
        should_remove_source_branch: Optional(Flag()),
        auto_merge: automatic,
        merge_when_pipeline_succeeds: automatic,
        sha: Optional(Text({ description: 'Merge only if this still is the head of the source branch' })),
        skip_merge_train: Optional(Flag()),
      }),
      answers: MergeRequest,
      refuses: {
        401: 'The caller may neither push nor merge to the target branch',
        405: 'It is not open, a draft, or another check fails',
        409: '`sha` is not the head of the source branch',
        422: 'The branches do not fit together',
      },
      read: ({ params }) => readableWithRules(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const found = rows[0]!
        if (!mayMerge(actor, project, found)) throw unauthorized()
        const row = await upToDate(services, project, found)
        const checked = { ...row, ...(await checkMergeability(services, project, row)) }
        const failing = failingChecks(checked, circumstances(services))
        const waits = params.auto_merge ?? params.merge_when_pipeline_succeeds ?? false
        const needsWork = failing.some((check) => check === 'conflict' || check === 'need_rebase')
        const others = failing.filter((check) => check !== 'conflict' && check !== 'need_rebase')
        if (others.length > 0 && !(waits && canWait(others))) throw notMergeable()
        if (needsWork) throw branchNotMergeable()
        if (params.sha !== undefined && params.sha !== row.head_sha) {
          throw conflict(`SHA does not match HEAD of source branch: ${row.head_sha}`)
        }
        const { merge_commit_message, squash_commit_message, squash, should_remove_source_branch } = params
        const wish = { merge_commit_message, squash_commit_message, squash, should_remove_source_branch }
        if (waits && (failing.length > 0 || (await pipelineRuns(services, actor, row.id)))) {
          if (!(await scheduleMerge(services, actor, row, wish))) throw notMergeable()
        } else {
          await merge(services, actor, project, checked, wish)
        }
        return showAgain(services, actor, project, row.id)
      },
    }),

    endpoint({
      method: 'POST',
      path: `${requestPath}/cancel_merge_when_pipeline_succeeds`,
      summary: 'Call off a merge that was to happen by itself',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields(iid),
      answers: Fields({ status: OneOf('success') }),
      refuses: { 401: 'Neither the author nor somebody who may merge', 406: 'Nothing to call off' },
      read: ({ params }) => readableWithRules(params.merge_request_iid),
      async handle({ actor, project, rows }) {
        const row = rows[0]!
        const author = row.author_id === userOf(actor).id && may(actor, 'read_merge_request', project)
        if (!author && !mayMerge(actor, project, row)) throw unauthorized()
        if (!(await cancelScheduled(services, actor, row))) {
          throw notAcceptable("Can't cancel the automatic merge")
        }
        return { status: 'success' as const }
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${requestPath}/rebase`,
      summary: 'Rebase the source branch of a merge request',
      description: 'Its commits are made again on top of the target branch, soon after the answer.',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({ ...iid, skip_ci: Flag({ default: false }) }),
      status: 202,
      answers: Fields({ rebase_in_progress: Flag() }),
      refuses: {
        403: 'The caller may not move the source branch by force, or it is gone',
        405: 'It is not open',
        409: 'One is on its way already',
      },
      read: ({ params }) => readableWithRules(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        const why = await rebaseRefusal(services, actor, project, row)
        if (why !== undefined) throw forbidden(why)
        if (row.state !== 'opened') throw notMergeable()
        const job = { id: row.id, user: userOf(actor).id, skipCi: params.skip_ci }
        if (!(await startRebase(services, job))) {
          throw conflict(
            'Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.',
          )
        }
        return { rebase_in_progress: true }
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/merge_ref`,
      summary: 'Get the commit that a merge would make',
      description: 'It can be fetched as `refs/merge-requests/N/merge`.',
      params: Fields(iid),
      answers: Fields({ commit_id: Text() }),
      refuses: { 400: 'The branches do not fit together' },
      read: ({ params }) => readableOne(params.merge_request_iid),
      async handle({ project, rows }) {
        const row = rows[0]!
        const made = row.state === 'opened' ? await makeMergeRef(services, project, row) : undefined
        if (made === undefined) throw refused(400, 'Merge request is not mergeable')
        return { commit_id: made.oid }
      },
    }),
  ]
}

/** The request with the head that its source branch has at this moment. */
async function upToDate<Row extends MergeRequestRow>(
  services: MergeRequestServices,
  project: ProjectSubject,
  row: Row,
): Promise<Row> {
  if (row.state !== 'opened') return row
  const own = row.source_project_id === project.id
  if (own && (await headIn(services.places, project, row.source_branch)) === row.head_sha) return row
  const fresh = await refreshMergeRequest(services, row.id, { by: null })
  return fresh === undefined ? row : { ...row, ...fresh }
}
