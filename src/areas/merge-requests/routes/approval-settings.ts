import {
  endpoint,
  isAdministrator,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import {
  Fields,
  Flag,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { invalid } from '../../../kernel/errors/index.ts'
import type { SettingValues } from '../../../settings/index.ts'
import { effectiveSettings } from '../approvals/rules.ts'
import { approvalSettingNames, approvalSettings, type ApprovalSettings } from '../approvals/settings.ts'
import { changeProjectSettings } from '../approvals/store.ts'
import type { MergeRequestServices } from '../services.ts'

const path = '/projects/:id/approvals'
const lockPath = '/projects/:id/merge_request_approval_setting'

const Choice = Fields({
  value: Flag(),
  locked: Flag({ description: 'The instance has decided' }),
  inherited_from: Nullable(Text()),
})

/** The same settings in other words, some of them turned round. */
const choices = {
  allow_author_approval: { name: 'merge_requests_author_approval', reversed: false },
  allow_committer_approval: { name: 'merge_requests_disable_committers_approval', reversed: true },
  allow_overrides_to_approver_list_per_merge_request: {
    name: 'disable_overriding_approvers_per_merge_request',
    reversed: true,
  },
  retain_approvals_on_push: { name: 'reset_approvals_on_push', reversed: true },
  selective_code_owner_removals: { name: 'selective_code_owner_removals', reversed: false },
  require_password_to_approve: { name: 'require_password_to_approve', reversed: false },
  require_reauthentication_to_approve: { name: 'require_password_to_approve', reversed: false },
} as const satisfies Record<string, { name: keyof ApprovalSettings; reversed: boolean }>
type Choices = { readonly [Name in keyof typeof choices]?: boolean | undefined }
const choiceNames = Object.keys(choices) as (keyof typeof choices)[]

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
  /** Gives all settings of the project as they are then. */
  const change = (
    actor: Actor,
    project: ProjectSubject,
    asked: Wanted,
  ): Promise<ProjectSubject['settings']> => {
    const wanted = withoutLocked(actor, settings.values, asked)
    const changes = Object.fromEntries(
      [...approvalSettingNames, 'approvals_before_merge' as const].flatMap((name) =>
        wanted[name] === undefined ? [] : [[name, wanted[name]]],
      ),
    )
    const after = approvalSettings({ ...project.settings, ...changes })
    if (after.selective_code_owner_removals && after.reset_approvals_on_push) {
      throw invalid({ selective_code_owner_removals: ['only works without reset_approvals_on_push'] })
    }
    return db.transaction((tx) => changeProjectSettings(tx, project.id, changes))
  }
  return [
    endpoint({
      method: 'GET',
      path,
      summary: 'Get how approvals of merge requests work in a project',
      on: projectKind,
      may: 'approve_as_named',
      plan: planOf.approval_rules,
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
      plan: planOf.approval_rules,
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
        const { require_reauthentication_to_approve: again = params.require_password_to_approve } = params
        return show(await change(actor, project, { ...params, require_password_to_approve: again }))
      },
    }),

    endpoint({
      method: 'GET',
      path: lockPath,
      summary:
        'Get how approvals of merge requests work in a project, and what the instance has decided of it',
      on: projectKind,
      may: 'admin_merge_request_settings',
      plan: planOf.approval_rules,
      answers: Fields(Object.fromEntries(choiceNames.map((name) => [name, Choice]))),
      handle: async ({ project }) => chosen(project.settings, settings.values),
    }),

    endpoint({
      method: 'PUT',
      path: lockPath,
      summary: 'Change how approvals of merge requests work in a project, in other words',
      on: projectKind,
      may: 'admin_merge_request_settings',
      plan: planOf.approval_rules,
      params: Fields(Object.fromEntries(choiceNames.map((name) => [name, Optional(Flag())]))),
      rules: { atLeastOneOf: [choiceNames] },
      answers: Fields(Object.fromEntries(choiceNames.map((name) => [name, Choice]))),
      async handle({ actor, project, params }) {
        const sent = params as Choices
        const wanted = Object.fromEntries(
          choiceNames.flatMap((choice) => {
            const value = sent[choice]
            const { name, reversed } = choices[choice]
            return value === undefined ? [] : [[name, value !== reversed]]
          }),
        ) as Wanted
        return chosen(await change(actor, project, wanted), settings.values)
      },
    }),
  ]
}

/** Each setting in the words of `choices`. */
function chosen(stored: ProjectSubject['settings'], values: SettingValues): Record<string, unknown> {
  const effective = effectiveSettings(stored, values)
  const locked: Partial<Record<keyof ApprovalSettings, boolean>> = {
    merge_requests_author_approval: values.prevent_merge_requests_author_approval,
    merge_requests_disable_committers_approval: values.prevent_merge_requests_committers_approval,
    disable_overriding_approvers_per_merge_request: values.disable_overriding_approvers_per_merge_request,
  }
  return Object.fromEntries(
    choiceNames.map((choice) => {
      const { name, reversed } = choices[choice]
      const isLocked = locked[name] ?? false
      const value = effective[name] !== reversed
      return [choice, { value, locked: isLocked, inherited_from: isLocked ? 'instance' : null }]
    }),
  )
}

type Wanted = { readonly [Name in keyof ApprovalSettings]?: boolean | undefined } & {
  readonly approvals_before_merge?: number | undefined
}

/** What the instance decides is left out of what anybody but an administrator asks for. */
function withoutLocked(actor: Actor, values: SettingValues, wanted: Wanted): Wanted {
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
