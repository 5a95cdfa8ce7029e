import { duration, httpUrl, pathWithin } from '../formats.ts'
import { bytes, digitsOrNull, flag, int, text, textOrNull } from '../kinds.ts'

/** Pipelines, jobs and their artifacts. */
export const ciSettings = {
  suggest_pipeline_enabled: flag(true, 'Shows the banner that suggests adding a pipeline.', {
    strict: true,
    recorded: true,
  }),
  enable_artifact_external_redirect_warning_page: flag(
    true,
    'Shows a warning page before opening artifact HTML on another host.',
    { strict: true, recorded: true },
  ),
  terminal_max_session_time: int(0, 'Closes a web terminal connection after so many seconds; 0 never.', {
    min: 0,
    strict: true,
  }),
  archive_builds_in_human_readable: textOrNull(
    null,
    'Jobs of pipelines older than this are archived: they cannot be retried, played or picked up, and retry answers 403.',
    { format: duration },
  ),
  auto_devops_enabled: flag(
    true,
    'What new projects begin with as auto_devops_enabled, where neither they nor their group say otherwise. No pipeline comes of it: there is none that is built in.',
  ),
  auto_devops_domain: textOrNull(null, 'Base domain for automatic review apps and deployments.', {
    recorded: true,
  }),
  ci_max_total_yaml_size_bytes: bytes(
    314_572_800,
    'Largest configuration of a pipeline, all files together, in bytes. A pipeline above it has a configuration error.',
    { min: 0 },
  ),
  ci_max_includes: int(
    150,
    'Most files that the configuration of a pipeline may include, each time they are included. A pipeline above it has a configuration error.',
    { min: 0, strict: true },
  ),
  default_artifacts_expire_in: text(
    '30 days',
    'Life of job artifacts that name none; `0` keeps them for ever. `artifacts_expire_at` of the job.',
    { format: duration },
  ),
  default_ci_config_path: textOrNull(
    null,
    'Path of the CI/CD configuration in new projects; null is `.gitlab-ci.yml`. Copied to `ci_config_path` of projects created from now on.',
    { longest: 255, format: pathWithin },
  ),
  keep_latest_artifact: flag(
    true,
    'Artifacts of the latest successful pipeline of each ref never expire. When off they expire as all others do, and projects cannot turn it on.',
  ),
  external_pipeline_validation_service_url: textOrNull(
    null,
    'Before a pipeline is created, POST its data here; answer 406 rejects it, everything else (errors and time-outs too) lets it through.',
    { format: httpUrl },
  ),
  external_pipeline_validation_service_token: textOrNull(
    null,
    'Sent as the vendor token header of validation requests.',
    { secret: true, shown: true },
  ),
  external_pipeline_validation_service_timeout: digitsOrNull(
    null,
    'Seconds to wait for the validation answer (5 when null).',
  ),
  pipeline_limit_per_project_user_sha: int(
    0,
    'Pipelines that one user may start for one commit of a project in a minute; 0 is unlimited. The next one is refused.',
    { min: 0, strict: true },
  ),
  git_push_pipeline_limit: int(
    4,
    'Branches and tags of one push that get a pipeline, the first ones; 0 is unlimited. Merge requests do not count.',
    { min: 0, strict: true },
  ),
  downstream_pipeline_trigger_limit_per_project_user_sha: int(
    0,
    'The same for pipelines that trigger jobs start, counted at the commit that starts them. The trigger job fails with `reached_downstream_pipeline_trigger_rate_limit`.',
    { min: 0, strict: true },
  ),
  max_artifacts_size: int(100, 'Largest artifact archive of one job, in MiB. A larger upload gets 413.', {
    min: 1,
    strict: true,
  }),
  max_pages_size: int(100, 'Largest pages site, in MiB; 0 unlimited.', { min: 0, strict: true }),
  max_yaml_size_bytes: bytes(
    2_097_152,
    'Largest single configuration file, in bytes. A pipeline with a larger one has a configuration error.',
    { min: 1 },
  ),
  max_yaml_depth: int(
    100,
    'Deepest nesting within a configuration file. A pipeline with a deeper one has a configuration error.',
    { min: 1 },
  ),
  protected_ci_variables: flag(true, 'Default of the protected flag in the variable form (not in the API).', {
    recorded: true,
  }),
  pages_domain_verification_enabled: flag(true, 'Custom pages domains must be verified before use.'),
  pages_unique_domain_default_enabled: flag(true, 'New pages sites get a unique domain.'),
  disable_overriding_approvers_per_merge_request: flag(
    false,
    'Approval rules cannot be edited in projects and merge requests.',
    { strict: true, plan: 'premium' },
  ),
  prevent_merge_requests_author_approval: flag(false, 'Authors cannot approve their own merge requests.', {
    strict: true,
    plan: 'premium',
  }),
  prevent_merge_requests_committers_approval: flag(
    false,
    'Committers cannot approve merge requests with their commits.',
    { strict: true, plan: 'premium' },
  ),
  max_infra_state_size_bytes: bytes(0, 'Largest infrastructure state file (413 above); 0 unlimited.', {
    min: 0,
    strict: true,
    vendor: 'max_terraform_state_size_bytes',
  }),
}
