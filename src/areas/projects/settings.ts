import {
  Fields,
  Flag,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Static,
  type TSchema,
} from '../../kernel/endpoint/index.ts'

/** One setting of a project. Parameters, storage and the fields of answers derive from its row. */
export interface ProjectSetting<T extends TSchema = TSchema> {
  readonly schema: T
  /** What holds while nothing else was chosen; only other values are stored. */
  readonly fallback: Static<T>
  readonly shownTo: 'everyone' | 'maintainers'
  /** `update`: not taken when a project is created. */
  readonly on: 'create and update' | 'update'
  /** Only with a paid plan. */
  readonly paid: boolean
}

interface Options {
  readonly on?: ProjectSetting['on']
  readonly paid?: boolean
}

function everyone<T extends TSchema>(
  schema: T,
  fallback: Static<T>,
  options: Options = {},
): ProjectSetting<T> {
  return { schema, fallback, shownTo: 'everyone', on: 'create and update', paid: false, ...options }
}

function maintainers<T extends TSchema>(
  schema: T,
  fallback: Static<T>,
  options: Options = {},
): ProjectSetting<T> {
  return { ...everyone(schema, fallback, options), shownTo: 'maintainers' }
}

const later: Options = { on: 'update' }
const paid: Options = { paid: true }

const template = Nullable(Text({ description: 'At most 500 characters' }))

/** Rules of automatic cleaning of the project's container images, as it is stored and shown. */
export const expirationPolicy = {
  cadence: OneOf('1d', '7d', '14d', '1month', '3month'),
  enabled: Flag(),
  keep_n: Nullable(OneOf(1, 5, 10, 25, 50, 100)),
  older_than: Nullable(OneOf('7d', '14d', '30d', '60d', '90d')),
  name_regex: Nullable(Text()),
  name_regex_keep: Nullable(Text()),
}

/** Every setting of a project that is one stored value. */
export const projectSettings = {
  resolve_outdated_diff_discussions: everyone(Flag(), false),
  container_expiration_policy: everyone(Fields(expirationPolicy), {
    cadence: '1d',
    enabled: false,
    keep_n: 10,
    older_than: '90d',
    name_regex: '.*',
    name_regex_keep: null,
  }),
  service_desk_enabled: everyone(Flag(), false),
  emails_enabled: everyone(Flag(), true),
  show_diff_preview_in_email: everyone(Flag(), true),
  shared_runners_enabled: everyone(Flag(), true),
  lfs_enabled: everyone(Flag(), true),
  ci_config_path: everyone(
    Nullable(Text({ description: 'Path of the CI/CD configuration; empty: `.gitlab-ci.yml`' })),
    null,
  ),
  public_jobs: everyone(Flag({ description: 'Whether who may see the project may see its jobs' }), true),
  only_allow_merge_if_pipeline_succeeds: everyone(Flag(), false),
  allow_merge_on_skipped_pipeline: everyone(Nullable(Flag()), false),
  request_access_enabled: everyone(Flag(), true),
  only_allow_merge_if_all_discussions_are_resolved: everyone(Flag(), false),
  remove_source_branch_after_merge: everyone(Flag(), true),
  printing_merge_request_link_enabled: everyone(Flag(), true),
  merge_method: everyone(OneOf('merge', 'rebase_merge', 'ff'), 'merge'),
  squash_option: everyone(OneOf('never', 'always', 'default_on', 'default_off'), 'default_off'),
  mr_default_target_self: everyone(
    Flag({ description: 'Of a fork: merge requests go to itself, not to what it was made from' }),
    false,
  ),
  enforce_auth_checks_on_uploads: everyone(Flag(), true),
  suggestion_commit_message: everyone(Nullable(Text()), null),
  merge_commit_template: everyone(template, null),
  squash_commit_template: everyone(template, null),
  merge_request_title_regex: everyone(
    Nullable(
      Text({ description: 'What the titles of merge requests have to match; at most 255 characters' }),
    ),
    null,
    later,
  ),
  merge_request_title_regex_description: everyone(
    Nullable(Text({ description: 'The same for people; at most 255 characters' })),
    null,
    later,
  ),
  issue_branch_template: everyone(Nullable(Text({ description: 'At most 255 characters' })), null),
  warn_about_potentially_unwanted_characters: everyone(Flag(), true),
  autoclose_referenced_issues: everyone(Flag(), true),
  max_artifacts_size: everyone(
    Nullable(Int({ description: 'In MiB; null: as the group or the instance says' })),
    null,
    later,
  ),

  approvals_before_merge: everyone(Int({ minimum: 0 }), 0, paid),
  external_authorization_classification_label: everyone(Nullable(Text()), '', paid),
  issues_template: everyone(Nullable(Text()), null, { on: 'update', paid: true }),
  merge_requests_template: everyone(Nullable(Text()), null, { on: 'update', paid: true }),
  merge_pipelines_enabled: everyone(Flag(), false, { on: 'update', paid: true }),
  merge_trains_enabled: everyone(Flag(), false, { on: 'update', paid: true }),
  merge_trains_skip_train_allowed: everyone(Flag(), false, { on: 'update', paid: true }),
  only_allow_merge_if_all_status_checks_passed: everyone(Flag(), false, paid),
  allow_pipeline_trigger_approve_deployment: everyone(Flag(), false, { on: 'update', paid: true }),
  prevent_merge_without_jira_issue: everyone(Flag(), false, { on: 'update', paid: true }),

  ci_default_git_depth: maintainers(Nullable(Int({ minimum: 0, maximum: 1000 })), 20, later),
  ci_delete_pipelines_in_seconds: maintainers(
    Nullable(
      Int({ minimum: 86_400, maximum: 31_536_000, description: 'Age at which pipelines are deleted' }),
    ),
    null,
    later,
  ),
  ci_forward_deployment_enabled: maintainers(Flag(), true, later),
  ci_forward_deployment_rollback_allowed: maintainers(Flag(), true, later),
  ci_job_token_scope_enabled: maintainers(Flag(), false, later),
  ci_separated_caches: maintainers(Flag(), true, later),
  ci_allow_fork_pipelines_to_run_in_parent_project: maintainers(Flag(), true, later),
  ci_id_token_sub_claim_components: maintainers(
    ListOf(OneOf('project_path', 'ref_type', 'ref')),
    ['project_path', 'ref_type', 'ref'],
    later,
  ),
  build_git_strategy: maintainers(OneOf('fetch', 'clone'), 'fetch'),
  keep_latest_artifact: maintainers(Flag(), true, later),
  ci_pipeline_variables_minimum_override_role: maintainers(
    OneOf('no_one_allowed', 'developer', 'maintainer', 'owner'),
    'developer',
    later,
  ),
  ci_restrict_pipeline_cancellation_role: maintainers(
    OneOf(['developer', 'maintainer', 'no_one'], {
      description: 'Who may cancel pipelines and jobs, at least',
    }),
    'developer',
    { on: 'update', paid: true },
  ),
  group_runners_enabled: maintainers(Flag(), true),
  resource_group_default_process_mode: maintainers(
    OneOf('unordered', 'oldest_first', 'newest_first', 'newest_ready_first'),
    'unordered',
  ),
  auto_cancel_pending_pipelines: maintainers(OneOf('enabled', 'disabled'), 'enabled'),
  build_timeout: maintainers(Int({ description: 'In seconds, from 10 minutes to 1 month' }), 3600),
  auto_devops_enabled: maintainers(Flag(), false),
  auto_devops_deploy_strategy: maintainers(OneOf('continuous', 'manual', 'timed_incremental'), 'continuous'),
  ci_push_repository_for_job_token_allowed: maintainers(Flag(), false, later),
} as const satisfies Record<string, ProjectSetting>

export type ProjectSettingName = keyof typeof projectSettings
export type ProjectSettings = {
  -readonly [Name in ProjectSettingName]: Static<(typeof projectSettings)[Name]['schema']>
}

const rows = Object.entries(projectSettings) as [ProjectSettingName, ProjectSetting][]

export const settingDefaults = Object.fromEntries(
  rows.map(([name, { fallback }]) => [name, fallback]),
) as unknown as ProjectSettings

/** All settings of a project, from what is stored of them. */
export function allSettings(stored: Readonly<Record<string, unknown>>): ProjectSettings {
  return { ...settingDefaults, ...stored }
}

/** What is to be stored: the values that differ from the defaults. Those of a newer version are kept. */
export function storedSettings(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const defaults = settingDefaults as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(defaults[name]),
    ),
  )
}

/** Declared by names that are data: handlers hand all they got to a function that knows these. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- nothing is known to the type checker
export type Named = Record<never, TSchema>

/** The settings as parameters of a request that creates or of one that updates. */
export function settingParams(when: 'create' | 'update'): Named {
  const taken = rows.filter(
    ([name, { on }]) =>
      name !== 'container_expiration_policy' && (when === 'update' || on === 'create and update'),
  )
  return {
    ...Object.fromEntries(taken.map(([name, { schema }]) => [name, Optional(schema)])),
    container_expiration_policy_attributes: Optional(expirationPolicyParams),
    emails_disabled: Optional(Flag({ deprecated: true, description: 'Use `emails_enabled`' })),
    public_builds: Optional(Flag({ deprecated: true, description: 'Use `public_jobs`' })),
    ...(when === 'update' && { restrict_user_defined_variables: Optional(Flag({ deprecated: true })) }),
  }
}

const expirationPolicyParams = Fields(
  Object.fromEntries([
    ...Object.entries(expirationPolicy).map(([name, schema]) => [name, Optional(schema)]),
    ['name_regex_delete', Optional(Nullable(Text({ description: 'Same as `name_regex`' })))],
  ]) as Named,
)

/** What parameters make of the settings there were. What is not given stays. */
export function changeSettings(
  before: ProjectSettings,
  params: Readonly<Record<string, unknown>>,
): ProjectSettings {
  const given = Object.fromEntries(
    rows.flatMap(([name]) => (params[name] === undefined ? [] : [[name, params[name]]])),
  )
  const after: ProjectSettings = { ...before, ...given }
  if (params['emails_enabled'] === undefined && typeof params['emails_disabled'] === 'boolean') {
    after.emails_enabled = !params['emails_disabled']
  }
  if (params['public_jobs'] === undefined && typeof params['public_builds'] === 'boolean') {
    after.public_jobs = params['public_builds']
  }
  const restricted = params['restrict_user_defined_variables']
  if (
    params['ci_pipeline_variables_minimum_override_role'] === undefined &&
    typeof restricted === 'boolean'
  ) {
    if (!restricted) after.ci_pipeline_variables_minimum_override_role = 'developer'
    else if (before.ci_pipeline_variables_minimum_override_role === 'developer') {
      after.ci_pipeline_variables_minimum_override_role = 'maintainer'
    }
  }
  const policy = params['container_expiration_policy_attributes'] as
    Readonly<Record<string, unknown>> | undefined
  if (policy !== undefined) {
    const { name_regex_delete: regex, ...rest } = policy
    after.container_expiration_policy = {
      ...before.container_expiration_policy,
      ...(regex !== undefined && { name_regex: regex as string | null }),
      ...rest,
    }
  }
  return after
}

/** The fields of answers for those to whom a setting is shown. */
export function settingFields(shownTo: ProjectSetting['shownTo']): Named {
  const shown = rows.filter(([, setting]) => setting.shownTo === shownTo)
  return Object.fromEntries(
    shown.map(([name, { schema, paid: onlyPaid }]) => [
      name,
      onlyPaid || shownTo === 'maintainers' ? Optional(schema) : schema,
    ]),
  )
}

/** The settings that an answer does not show: the paid ones without a plan, and those of another audience. */
export function shownSettings(
  values: ProjectSettings,
  to: { maintainers: boolean; paid: boolean },
): Partial<ProjectSettings> {
  const shown = rows.filter(
    ([, setting]) => (setting.shownTo === 'everyone' || to.maintainers) && (!setting.paid || to.paid),
  )
  return Object.fromEntries(shown.map(([name]) => [name, values[name]]))
}
