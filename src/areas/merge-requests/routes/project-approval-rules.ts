import { endpoint, project as projectKind } from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  ListOf,
  OneOf,
  Optional,
  Page,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { forbidden } from '../../../kernel/errors/index.ts'
import { ProjectRule, projectRule } from '../approvals/entities.ts'
import { projectRule as projectRuleOf, projectRules } from '../approvals/rows.ts'
import { mayEditRules } from '../approvals/rules.ts'
import * as store from '../approvals/store.ts'
import type { MergeRequestServices } from '../services.ts'
import { branches, required, ruleId, targets, targetsOf, typeOf } from './approval-rule-params.ts'

const path = '/projects/:id/approval_rules'
const common = { on: projectKind, plan: planOf.approval_rules } as const

/** Rules that hold for all requests into a project. */
export function projectRuleEndpoints(services: MergeRequestServices): Endpoint[] {
  const { db, externalUrl } = services
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'List the approval rules of a project',
      may: 'approve_as_named',
      ...common,
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
      may: 'approve_as_named',
      ...common,
      record: true,
      params: Fields(ruleId),
      answers: ProjectRule,
      read: ({ params }) => projectRuleOf(params.approval_rule_id),
      handle: async ({ rows }) => projectRule(rows[0]!, externalUrl()),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Create an approval rule of a project',
      may: 'admin_merge_request_settings',
      ...common,
      params: Fields({
        name: Text({ blank: false }),
        approvals_required: required,
        rule_type: Optional(OneOf('regular', 'any_approver')),
        ...targets,
        ...branches,
      }),
      answers: ProjectRule,
      async handle({ actor, project, params }) {
        if (!mayEditRules(actor, services)) throw forbidden()
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
      may: 'admin_merge_request_settings',
      ...common,
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
      read: ({ params }) => projectRuleOf(params.approval_rule_id),
      async handle({ actor, project, params, rows }) {
        if (!mayEditRules(actor, services)) throw forbidden()
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
      may: 'admin_merge_request_settings',
      ...common,
      record: true,
      params: Fields(ruleId),
      answers: null,
      read: ({ params }) => projectRuleOf(params.approval_rule_id),
      async handle({ actor, rows }) {
        if (!mayEditRules(actor, services)) throw forbidden()
        await db.transaction((tx) => store.removeRule(tx, rows[0]!.id))
      },
    }),
  ]
}
