import { endpoint, project as projectKind, type Actor, type ProjectSubject } from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  Id,
  ListOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, recordNotFound } from '../../../kernel/errors/index.ts'
import { RequestRule, requestRule } from '../approvals/entities.ts'
import { presentApprovals } from '../approvals/present.ts'
import { readableWithApprovals, type RequestWithApprovals, type RuleRow } from '../approvals/rows.ts'
import { mayOverrideRules } from '../approvals/rules.ts'
import * as store from '../approvals/store.ts'
import type { MergeRequestServices } from '../services.ts'
import { required, ruleId, targets, targetsOf, typeOf } from './approval-rule-params.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

/** Rules of one request: of its own, and those that stand in for rules of its project. */
export function requestRuleEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, externalUrl } = services
  const paid = { plan: planOf.approval_rules } as const
  const requireOverriding = (actor: Actor, project: ProjectSubject): void => {
    if (!mayOverrideRules(actor, project, services)) throw forbidden()
  }
  return [
    endpoint({
      ...readingOne,
      path: `${requestPath}/approval_rules`,
      summary: 'List the approval rules of a merge request',
      ...paid,
      paged: true,
      params: Fields(iid),
      answers: ListOf(RequestRule),
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ project, rows, page: { offset, limit } }) {
        const { rules } = await presentApprovals(services, project, rows[0]!)
        const shown = rules.slice(offset, offset + limit).map((rule) => requestRule(rule, externalUrl()))
        return new Page(shown, { total: rules.length })
      },
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/approval_rules/:approval_rule_id`,
      summary: 'Get an approval rule of a merge request',
      ...paid,
      params: Fields({ ...iid, ...ruleId }),
      answers: RequestRule,
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ project, rows, params }) {
        const { rules } = await presentApprovals(services, project, rows[0]!)
        const found = rules.find((rule) => rule.id === params.approval_rule_id)
        if (found === undefined) throw recordNotFound()
        return requestRule(found, externalUrl())
      },
    }),

    endpoint({
      method: 'POST',
      path: `${requestPath}/approval_rules`,
      summary: 'Create an approval rule of a merge request',
      description: 'With `approval_project_rule_id` it stands in for that rule of the project.',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({
        ...iid,
        name: Text({ blank: false }),
        approvals_required: required,
        approval_project_rule_id: Optional(Id()),
        ...targets,
      }),
      answers: RequestRule,
      refuses: { 404: 'No such rule of the project' },
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        requireOverriding(actor, project)
        const source = params.approval_project_rule_id
        const replaced = source === undefined ? undefined : requireRule(row, source)
        const id = await db.transaction(async (tx) => {
          const made = await store.insertRule(
            tx,
            { projectId: project.id, mergeRequestId: row.id, sourceRuleId: replaced?.id ?? null },
            {
              name: params.name,
              ruleType: replaced?.rule_type === 'any_approver' ? 'any_approver' : typeOf(params),
              approvalsRequired: params.approvals_required,
              allProtectedBranches: false,
            },
          )
          await store.setRuleTargets(tx, { id: made, projectId: project.id }, targetsOf(params))
          return made
        })
        return requestRule(await store.findRule(db.writer, id), externalUrl())
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${requestPath}/approval_rules/:approval_rule_id`,
      summary: 'Change an approval rule of a merge request',
      description: 'A rule of the project is replaced by one of the request alone.',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({
        ...iid,
        ...ruleId,
        name: Optional(Text({ blank: false })),
        approvals_required: Optional(required),
        ...targets,
        remove_hidden_groups: Optional(Flag()),
      }),
      answers: RequestRule,
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        const row = rows[0]!
        requireUpdateOf(actor, project, row)
        requireOverriding(actor, project)
        const before = requireRule(row, params.approval_rule_id)
        const values = {
          name: params.name ?? before.name,
          approvalsRequired: params.approvals_required ?? before.approvals_required,
          allProtectedBranches: false,
        }
        const id = await db.transaction(async (tx) => {
          if (before.own) {
            await store.changeRule(tx, before.id, values)
            await store.setRuleTargets(tx, { id: before.id, projectId: project.id }, targetsOf(params))
            return before.id
          }
          const ruleType = before.rule_type === 'any_approver' ? 'any_approver' : 'regular'
          const place = { projectId: project.id, mergeRequestId: row.id, sourceRuleId: before.id }
          const made = await store.insertRule(tx, place, { ...values, ruleType })
          await store.setRuleTargets(
            tx,
            { id: made, projectId: project.id },
            {
              userIds: params.user_ids ?? before.users.map((user) => user.id),
              usernames: params.usernames,
              groupIds: params.group_ids ?? before.groups.map((group) => group.id),
            },
          )
          return made
        })
        return requestRule(await store.findRule(db.writer, id), externalUrl())
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${requestPath}/approval_rules/:approval_rule_id`,
      summary: 'Delete an approval rule of a merge request',
      description: 'A rule of the project holds for the others as before.',
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({ ...iid, ...ruleId }),
      answers: null,
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        requireUpdateOf(actor, project, rows[0]!)
        requireOverriding(actor, project)
        const rule = requireRule(rows[0]!, params.approval_rule_id)
        const place = { projectId: project.id, mergeRequestId: rows[0]!.id }
        await db.transaction((tx) =>
          rule.own ? store.removeRule(tx, rule.id) : store.dropRule(tx, place, rule),
        )
      },
    }),
  ]
}

/** The rule of this id that is the request's own, or its project's: what files say is not to be changed here. */
function requireRule(row: RequestWithApprovals, id: number): RuleRow {
  const found = row.rules.find((rule) => rule.id === id)
  const isOfFile = found?.rule_type === 'code_owner' || found?.rule_type === 'report_approver'
  if (found === undefined || isOfFile) throw recordNotFound()
  return found
}
