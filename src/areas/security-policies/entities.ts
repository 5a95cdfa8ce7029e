import { Fields, Flag, Id, Int, ListOf, Nullable, OneOf, Text } from '../../kernel/endpoint/index.ts'
import { standing } from './rules.ts'
import type { LinkRow } from './store.ts'

const Rule = Fields({
  type: Text(),
  effective: Flag({ description: 'Rules of other types than any_merge_request do nothing' }),
  branch_type: Nullable(Text()),
  branches: Nullable(ListOf(Text())),
  branch_exceptions: ListOf(Fields({ name: Text(), full_path: Nullable(Text()) })),
  commits: Text(),
})

const Action = Fields({
  approvals_required: Int(),
  user_approvers: ListOf(Text()),
  user_approvers_ids: ListOf(Id()),
  group_approvers: ListOf(Text()),
  group_approvers_ids: ListOf(Id()),
  role_approvers: ListOf(Text()),
})

const Policy = Fields({
  name: Text(),
  description: Nullable(Text()),
  enabled: Flag(),
  active: Flag({ description: 'It takes effect' }),
  reason: Nullable(Text({ description: 'Why it does not' })),
  notes: ListOf(Text(), { description: 'What of it does nothing' }),
  rules: ListOf(Rule),
  actions: ListOf(Action),
})

export const SecurityPolicies = Fields({
  sources: ListOf(
    Fields({
      kind: OneOf('project', 'group'),
      id: Id({ description: 'Of the project or group that is linked' }),
      full_path: Text(),
      own: Flag({ description: 'Linked here, not in a group above' }),
      policy_project_id: Id(),
      policy_project_path: Text(),
      commit: Nullable(Text({ description: 'At which the policies were read' })),
      problem: Nullable(Text({ description: 'Why there are no policies' })),
      policies: ListOf(Policy),
    }),
    { description: 'From the top group down' },
  ),
})

/** `most`: so many policies of one project take effect. */
export function securityPolicies(links: readonly LinkRow[], most: number): Record<string, unknown> {
  return {
    sources: links.map((link) => ({
      ...link,
      policies: link.policies.map((policy) => ({ ...policy, ...standing(policy, most) })),
    })),
  }
}
