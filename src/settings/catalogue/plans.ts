import { flag } from '../kinds.ts'
import { anyObject } from '../objects.ts'

/** What hangs on the plan, and what the service tells of itself. */
export const planSettings = {
  check_namespace_plan: flag(false, 'Ties licensed features to the namespace plan (hosted offering only).', {
    plan: 'premium',
    recorded: true,
  }),
  allow_group_owners_to_manage_ldap: flag(true, 'When false, only administrators manage LDAP group links.', {
    plan: 'premium',
  }),
  automatic_purchased_storage_allocation: flag(false, 'Permits automatic use of purchased storage.', {
    recorded: true,
  }),
  assistant_features_enabled: flag(true, 'Whether the AI assistant is on for the instance.', {
    strict: true,
    plan: 'premium',
    vendor: 'duo_features_enabled',
    recorded: true,
  }),
  lock_assistant_features_enabled: flag(
    false,
    'When true, groups and projects inherit the instance assistant switch and cannot change it.',
    { strict: true, plan: 'premium', vendor: 'lock_duo_features_enabled', recorded: true },
  ),
  use_columnardb_for_analytics: flag(false, 'Analytics reports read from the columnar store.', {
    plan: 'premium',
    vendor: 'use_clickhouse_for_analytics',
    needs: 'columnar analytics database',
  }),
  usage_ping_enabled: flag(true, 'Allows the weekly usage report to be sent.', {
    strict: true,
    recorded: true,
  }),
  include_optional_metrics_in_service_ping: flag(true, 'Adds optional metrics to the usage report.', {
    recorded: true,
  }),
  version_check_enabled: flag(true, 'Allows the check for newer releases.', { recorded: true }),
  update_runner_versions_enabled: flag(
    true,
    'Whether the list of runner releases that RUNNER_RELEASES_URL names is fetched once a day, and runners tell which of them are outdated (upgrade_status).',
  ),
  enforce_namespace_storage_limit: flag(false, 'Enforces namespace storage limits (hosted offering).', {
    recorded: true,
  }),
  gitlab_dedicated_instance: flag(false, 'Marks a vendor-managed instance.', { recorded: true }),
  gitlab_environment_toolkit_instance: flag(false, 'Marks how the instance was provisioned.', {
    recorded: true,
  }),
  lock_memberships_to_ldap: flag(false, 'Only LDAP may change memberships.', {
    plan: 'premium',
  }),
  resource_usage_limits: anyObject('Background worker limits (hosted offering).', { recorded: true }),
}
