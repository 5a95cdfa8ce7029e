import {
  endpoint,
  isAdministrator,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { Fields, Flag, Int, Json, ListOf, Optional, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { invalid } from '../../../kernel/errors/index.ts'
import { effectiveSettings } from '../approvals/rules.ts'
import { approvalSettingNames, approvalSettings, type ApprovalSettings } from '../approvals/settings.ts'
import { changeProjectSettings } from '../approvals/store.ts'
import type { MergeRequestServices } from '../services.ts'

const path = '/projects/:id/approvals'

const shown = Fields({
  approvers: ListOf(Json(), { description: 'Always empty: rules name them', deprecated: true }),
  approver_groups: ListOf(Json(), { description: 'Always empty: rules name them', deprecated: true }),
  approvals_before_merge: Int({ deprecated: true, description: 'Of anybody, where no rule says how many' }),
  reset_approvals_on_push: Flag(),
  selective_code_owner_removals: Flag(),
  disable_overriding_approvers_per_merge_request: Flag(),
  merge_requests_author_approval: Flag(),
  merge_requests_disable_committers_approval: Flag(),
  require_password_to_approve: Flag({
    deprecated: true,
    description: 'Use `require_reauthentication_to_approve`',
  }),
  require_reauthentication_to_approve: Flag(),
})

/** How approvals work in a project. */
export function approvalSettingEndpoints({ db, settings }: MergeRequestServices): Endpoint[] {
  const show = (stored: ProjectSubject['settings']): Record<string, unknown> => {
    const effective = effectiveSettings(stored, settings.values)
    return {
      ...effective,
      approvers: [],
      approver_groups: [],
      approvals_before_merge: stored['approvals_before_merge'] ?? 0,
      require_reauthentication_to_approve: effective.require_password_to_approve,
    }
  }
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Get how approvals of merge requests work in a project',
      on: projectKind,
      may: 'approve_as_named',
      plan: 'premium',
      answers: shown,
      handle: async ({ project }) => show(project.settings),
    }),

    endpoint({
      method: 'POST',
      path,
      summary: 'Change how approvals of merge requests work in a project',
      description: 'What the instance keeps from being changed stays as it is.',
      on: projectKind,
      may: 'admin_merge_request_settings',
      plan: 'premium',
      params: Fields({
        approvals_before_merge: Optional(Int({ minimum: 0, maximum: 100, deprecated: true })),
        reset_approvals_on_push: Optional(Flag()),
        selective_code_owner_removals: Optional(Flag()),
        disable_overriding_approvers_per_merge_request: Optional(Flag()),
        merge_requests_author_approval: Optional(Flag()),
        merge_requests_disable_committers_approval: Optional(Flag()),
        require_password_to_approve: Optional(Flag({ deprecated: true })),
        require_reauthentication_to_approve: Optional(Flag()),
      }),
      answers: shown,
      async handle({ actor, project, params }) {
        const wanted = withoutLocked(actor, settings.values, {
          ...params,
          require_password_to_approve:
            params.require_reauthentication_to_approve ?? params.require_password_to_approve,
        })
        const changes = Object.fromEntries(
          [...approvalSettingNames, 'approvals_before_merge' as const].flatMap((name) =>
            wanted[name] === undefined ? [] : [[name, wanted[name]]],
          ),
        )
        const after = { ...project.settings, ...changes }
        const { selective_code_owner_removals: selective, reset_approvals_on_push: all } =
          approvalSettings(after)
        if (selective && all) {
          throw invalid({ selective_code_owner_removals: ['only works without reset_approvals_on_push'] })
        }
        return show(await db.transaction((tx) => changeProjectSettings(tx, project.id, changes)))
      },
    }),
  ]
}

type Wanted = { readonly [Name in keyof ApprovalSettings]?: boolean | undefined } & {
  readonly approvals_before_merge?: number | undefined
}

/** What the instance decides is left out of what anybody but an administrator asks for. */
function withoutLocked(
  actor: Actor,
  values: MergeRequestServices['settings']['values'],
  wanted: Wanted,
): Wanted {
  if (isAdministrator(actor)) return wanted
  return {
    ...wanted,
    ...(values.disable_overriding_approvers_per_merge_request && {
      disable_overriding_approvers_per_merge_request: undefined,
    }),
    ...(values.prevent_merge_requests_author_approval && { merge_requests_author_approval: undefined }),
    ...(values.prevent_merge_requests_committers_approval && {
      merge_requests_disable_committers_approval: undefined,
    }),
  }
}
