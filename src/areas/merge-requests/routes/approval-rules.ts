import { endpoint, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden, recordNotFound } from '../../../kernel/errors/index.ts'
import { ProjectRule, projectRule, RequestRule, requestRule } from '../approvals/entities.ts'
import {
  projectRule as ofId,
  projectRules,
  readableWithApprovals,
  type RequestWithApprovals,
  type RuleRow,
} from '../approvals/rows.ts'
import { effectiveSettings } from '../approvals/rules.ts'
import * as store from '../approvals/store.ts'
import type { MergeRequestServices } from '../services.ts'
import { iid, readingOne, requestPath, requireUpdateOf, writingOne } from './reading.ts'

const path = '/projects/:id/approval_rules'
const ids = Optional(ListOf(Id(), { commaSeparated: true, single: true }))
const targets = {
  user_ids: ids,
  usernames: Optional(ListOf(Text(), { commaSeparated: true, single: true })),
  group_ids: ids,
}
const branches = {
  protected_branch_ids: ids,
  applies_to_all_protected_branches: Optional(Flag()),
}
const required = Int({ minimum: 0, maximum: 100 })
const ruleId = { approval_rule_id: Id() }

interface Sent {
  readonly user_ids?: readonly number[] | undefined
  readonly usernames?: readonly string[] | undefined
  readonly group_ids?: readonly number[] | undefined
  readonly protected_branch_ids?: readonly number[] | undefined
}

const targetsOf = (params: Sent) => ({
  userIds: params.user_ids,
  usernames: params.usernames,
  groupIds: params.group_ids,
  branchIds: params.protected_branch_ids,
})

/** Rules that name nobody are for anybody. */
function typeOf(
  params: Sent & { rule_type?: 'regular' | 'any_approver' | undefined },
): 'regular' | 'any_approver' {
  if (params.rule_type !== undefined) return params.rule_type
  const names = [params.user_ids, params.usernames, params.group_ids].some((list) => (list?.length ?? 0) > 0)
  return names ? 'regular' : 'any_approver'
}

export function approvalRuleEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, externalUrl, settings } = services
  const paid = { plan: 'premium' } as const
  /** The rule of this id that is the request's own, or stands in for the project's of this id. */
  const requireRule = (row: RequestWithApprovals, id: number): RuleRow => {
    const found = row.rules.find((rule) => rule.id === id)
    if (found === undefined || found.rule_type === 'code_owner') throw recordNotFound()
    return found
  }
  const requireOverriding = (project: ProjectSubject): void => {
    const effective = effectiveSettings(project.settings, settings.values)
    if (effective.disable_overriding_approvers_per_merge_request) throw forbidden()
  }
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the approval rules of a project',
      on: projectKind,
      may: 'approve_as_named',
      ...paid,
      paged: true,
      answers: ListOf(ProjectRule),
      read: () => projectRules(),
      handle: async ({ rows, page: { offset, limit } }) =>
        new Page(
          rows.slice(offset, offset + limit).map((row) => projectRule(row, externalUrl())),
          { total: rows.length },
        ),
    }),

    endpoint({
      method: 'GET',
      path: `${path}/:approval_rule_id`,
      summary: 'Get an approval rule of a project',
      on: projectKind,
      may: 'approve_as_named',
      ...paid,
      record: true,
      params: Fields(ruleId),
      answers: ProjectRule,
      read: ({ params }) => ofId(params.approval_rule_id),
      handle: async ({ rows }) => projectRule(rows[0]!, externalUrl()),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create an approval rule of a project',
      on: projectKind,
      may: 'admin_merge_request_settings',
      ...paid,
      params: Fields({
        name: Text({ blank: false }),
        approvals_required: required,
        rule_type: Optional(OneOf('regular', 'any_approver')),
        ...targets,
        ...branches,
      }),
      answers: ProjectRule,
      async handle({ project, params }) {
        const id = await db.transaction(async (tx) => {
          const made = await store.insertRule(
            tx,
            { projectId: project.id, mergeRequestId: null, sourceRuleId: null },
            {
              name: params.name,
              ruleType: typeOf(params),
              approvalsRequired: params.approvals_required,
              allProtectedBranches: params.applies_to_all_protected_branches ?? false,
            },
          )
          await store.setRuleTargets(tx, { id: made, projectId: project.id }, targetsOf(params))
          return made
        })
        return projectRule(await store.findRule(db.writer, id), externalUrl())
      },
    }),

    endpoint({
      method: 'PUT',
      path: `${path}/:approval_rule_id`,
      summary: 'Change an approval rule of a project',
      on: projectKind,
      may: 'admin_merge_request_settings',
      ...paid,
      record: true,
      params: Fields({
        ...ruleId,
        name: Optional(Text({ blank: false })),
        approvals_required: Optional(required),
        ...targets,
        ...branches,
        remove_hidden_groups: Optional(Flag()),
      }),
      answers: ProjectRule,
      read: ({ params }) => ofId(params.approval_rule_id),
      async handle({ project, params, rows }) {
        const before = rows[0]!
        await db.transaction(async (tx) => {
          await store.changeRule(tx, before.id, {
            name: params.name ?? before.name,
            approvalsRequired: params.approvals_required ?? before.approvals_required,
            allProtectedBranches: params.applies_to_all_protected_branches ?? before.all_protected_branches,
          })
          await store.setRuleTargets(tx, { id: before.id, projectId: project.id }, targetsOf(params))
        })
        return projectRule(await store.findRule(db.writer, before.id), externalUrl())
      },
    }),

    endpoint({
      method: 'DELETE',
      path: `${path}/:approval_rule_id`,
      summary: 'Delete an approval rule of a project',
      on: projectKind,
      may: 'admin_merge_request_settings',
      ...paid,
      record: true,
      params: Fields(ruleId),
      answers: null,
      read: ({ params }) => ofId(params.approval_rule_id),
      handle: ({ rows }) => db.transaction((tx) => store.removeRule(tx, rows[0]!.id)),
    }),

    endpoint({
      ...readingOne,
      path: `${requestPath}/approval_rules`,
      summary: 'List the approval rules of a merge request',
      ...paid,
      paged: true,
      params: Fields(iid),
      answers: ListOf(RequestRule),
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      handle: async ({ rows, page: { offset, limit } }) => {
        const { rules } = rows[0]!
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
      handle: async ({ rows, params }) =>
        requestRule(requireRule(rows[0]!, params.approval_rule_id), externalUrl()),
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
        requireOverriding(project)
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
        requireOverriding(project)
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
      on: projectKind,
      may: 'read_project',
      ...writingOne,
      ...paid,
      params: Fields({ ...iid, ...ruleId }),
      answers: null,
      refuses: { 404: 'No rule of the request itself' },
      read: ({ params }) => readableWithApprovals(params.merge_request_iid),
      async handle({ actor, project, params, rows }) {
        requireUpdateOf(actor, project, rows[0]!)
        requireOverriding(project)
        const rule = requireRule(rows[0]!, params.approval_rule_id)
        if (!rule.own) throw recordNotFound()
        await db.transaction((tx) => store.removeRule(tx, rule.id))
      },
    }),
  ]
}
