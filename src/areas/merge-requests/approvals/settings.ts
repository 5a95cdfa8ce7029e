/** How approvals work in a project, as `/projects/:id/approvals` shows and changes it. Kept among its settings. */
export interface ApprovalSettings {
  readonly reset_approvals_on_push: boolean
  readonly selective_code_owner_removals: boolean
  readonly disable_overriding_approvers_per_merge_request: boolean
  readonly merge_requests_author_approval: boolean
  readonly merge_requests_disable_committers_approval: boolean
  readonly require_password_to_approve: boolean
}

export const approvalDefaults: ApprovalSettings = {
  reset_approvals_on_push: true,
  selective_code_owner_removals: false,
  disable_overriding_approvers_per_merge_request: false,
  merge_requests_author_approval: false,
  merge_requests_disable_committers_approval: false,
  require_password_to_approve: false,
}

export const approvalSettingNames = Object.keys(approvalDefaults) as (keyof ApprovalSettings)[]

export function approvalSettings(stored: Readonly<Record<string, unknown>>): ApprovalSettings {
  return Object.fromEntries(
    approvalSettingNames.map((name) => [name, stored[name] ?? approvalDefaults[name]]),
  ) as unknown as ApprovalSettings
}
