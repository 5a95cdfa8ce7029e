import {
  endpoint,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { offers, planOf } from '../../../kernel/config/index.ts'
import { Fields, Optional, Text, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { unauthorized } from '../../../kernel/errors/index.ts'
import { approve, findWithApprovals, unapprove } from '../approvals/act.ts'
import { approvals, Approvals, ApprovalState, approvalState } from '../approvals/entities.ts'
import { presentApprovals } from '../approvals/present.ts'
import { resetApprovals } from '../approvals/reset.ts'
import { readableWithApprovals, type RequestWithApprovals } from '../approvals/rows.ts'
import { mayApprove } from '../approvals/rules.ts'
import { approvalSettings } from '../approvals/settings.ts'
import type { MergeRequestServices } from '../services.ts'
import { iid, readingOne, requestPath, writingOne } from './reading.ts'

export function approvalEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, externalUrl, plan } = services
  const paid = offers(plan, 'approval_rules')
  const show = (actor: Actor, project: ProjectSubject, row: RequestWithApprovals): Record<string, unknown> =>
    approvals(row, {
      externalUrl: externalUrl(),
      paid,
      passwordNeeded: approvalSettings(project.settings).require_password_to_approve,
      userId: actor.user?.id,
      canApprove: mayApprove(actor, project, row, paid),
    })
  return [
    endpoint({
      ...readingOne,
      path: `${requestPath}/approvals`,
      summary: 'Get the approvals of a merge request',
      params: Fields(iid),
      answers: Approvals,
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      handle: async ({ actor, project, rows }) =>
        show(actor, project, await presentApprovals(services, project, rows[0]!)),
    }),

    endpoint({
      method: 'POST',
      path: `${requestPath}/approve`,
      summary: 'Approve a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields({
        ...iid,
        sha: Optional(Text({ description: 'Approve only if this still is the head of the source branch' })),
        approval_password: Optional(Text({ description: 'Of the caller, where the project asks for it' })),
      }),
      answers: Approvals,
      refuses: { 401: 'The caller may not approve it, or has', 409: '`sha` is not the head any more' },
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const { sha, approval_password: password } = params
        const row = await presentApprovals(services, project, rows[0]!)
        await approve(services, actor, project, row, { sha, password })
        return show(actor, project, await findWithApprovals(services, rows[0]!.id))
      },
    }),

    endpoint({
      method: 'POST',
      path: `${requestPath}/unapprove`,
      summary: 'Take back an approval of a merge request',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields(iid),
      answers: Approvals,
      refuses: { 401: 'The caller may not approve it' },
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, rows }) {
        if (!may(actor, 'approve_merge_request', project)) throw unauthorized()
        await unapprove(services, actor, rows[0]!)
        return show(actor, project, await findWithApprovals(services, rows[0]!.id))
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${requestPath}/reset_approvals`,
      summary: 'Take back all approvals of a merge request',
      description: 'For bots of projects and groups.',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      params: Fields(iid),
      status: 202,
      answers: Fields({ message: Text() }),
      refuses: { 401: 'The caller is no bot of the project' },
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, rows }) {
        const bot = actor.user?.kind === 'project_bot'
        if (!bot || !may(actor, 'update_merge_request', project)) throw unauthorized()
        await db.transaction((tx) => resetApprovals(tx, rows[0]!.id))
        return { message: '202 Accepted' }
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/approval_state`,
      summary: 'Get what each approval rule of a merge request says',
      plan: planOf.approval_rules,
      params: Fields(iid),
      answers: ApprovalState,
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      handle: async ({ project, rows }) =>
        approvalState(await presentApprovals(services, project, rows[0]!), externalUrl()),
    }),
  ]
}
