import { includesPlan, type Plan } from './plan.ts'

/**
 * What needs a paid plan, and the lowest plan that has it: the only place outside the catalogue of settings, whose rows
 * say it themselves, that names one. What becomes of it below that plan is said where it happens: endpoints refuse or
 * are not there, fields are left out, rules do not hold.
 */
export const planOf = {
  admitted_addresses: 'premium',
  approval_rules: 'premium',
  audit_events: 'premium',
  burndown: 'premium',
  code_owners: 'premium',
  delayed_deletion: 'premium',
  enterprise_version: 'premium',
  group_identities: 'premium',
  group_protections: 'premium',
  group_settings: 'premium',
  group_web_hooks: 'premium',
  group_wikis: 'premium',
  immutable_tags: 'premium',
  ldap_groups: 'premium',
  member_fields: 'premium',
  merge_request_blocks: 'premium',
  merge_request_fields: 'premium',
  merged_results_pipelines: 'premium',
  /** By a pattern of their names. */
  mirrored_branches: 'premium',
  /** Users and groups by name in the rules of branches and tags. */
  named_in_protections: 'premium',
  own_templates: 'premium',
  plan_of_namespaces: 'premium',
  project_aliases: 'premium',
  project_settings: 'premium',
  protected_environments: 'premium',
  pull_mirrors: 'premium',
  push_rules: 'premium',
  /** Whether a user takes one. */
  seats: 'premium',
  service_accounts: 'premium',
  /** Of merge requests; reviewers too. */
  several_assignees: 'premium',
  waiting_members: 'premium',
  download_limits: 'ultimate',
  epics: 'ultimate',
  /** Guests take no seat. */
  free_guests: 'ultimate',
  member_roles: 'ultimate',
  /** The longest life of tokens is the instance's to say. */
  own_token_lifetime: 'ultimate',
  secret_push_protection: 'ultimate',
  security_policies: 'ultimate',
} as const satisfies Readonly<Record<string, Plan>>

export type PlanFeature = keyof typeof planOf

/** Whether an instance of `plan` has the feature. */
export function offers(plan: Plan, feature: PlanFeature): boolean {
  return includesPlan(plan, planOf[feature])
}
