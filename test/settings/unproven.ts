/**
 * Settings that are stored, checked and shown, and whose effect nothing shows yet: what they are about is not there, or
 * does not ask them. The manual says so of each.
 */
export const unproven: ReadonlySet<string> = new Set([
  'disable_feed_token',
  'max_pages_size',
  'pages_domain_verification_enabled',
  'pages_unique_domain_default_enabled',
  'bulk_import_enabled',
  'bulk_import_max_download_file_size',
  'bulk_import_concurrent_pipeline_batch_limit',
  'concurrent_relation_batch_export_limit',
  'mirror_available',
  'security_policy_global_group_approvers_enabled',
  'security_approval_policies_limit',
  'allow_all_integrations',
  'allowed_integrations',
])
