/** Limits that an administrator sets beside the settings, with what they are unless that was done. Sizes in bytes. */
export const planLimits = {
  ci_instance_level_variables: 25,
  /** Jobs of one pipeline; 0: any number. */
  ci_pipeline_size: 0,
  /** Jobs in pipelines of a project that have not ended; 0: any number. */
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 10,
  ci_needs_size_limit: 50,
  ci_registered_group_runners: 1000,
  ci_registered_project_runners: 1000,
  /** MiB of the log of a job; 0: any size. */
  ci_jobs_trace_size_limit: 100,
  dotenv_size: 5120,
  dotenv_variables: 20,
  /** Pipelines that one has led to, itself counted. */
  pipeline_hierarchy_size: 1000,
  conan_max_file_size: 3_221_225_472,
  generic_packages_max_file_size: 5_368_709_120,
  helm_max_file_size: 5_242_880,
  maven_max_file_size: 3_221_225_472,
  npm_max_file_size: 524_288_000,
  nuget_max_file_size: 524_288_000,
  pypi_max_file_size: 3_221_225_472,
  terraform_module_max_file_size: 1_073_741_824,
  enforcement_limit: 10_000,
  notification_limit: 10_000,
  storage_size_limit: 15_000,
  web_hook_calls: 0,
  web_hook_calls_low: 0,
  web_hook_calls_mid: 0,
} as const satisfies Record<string, number>

export type PlanLimitName = keyof typeof planLimits
export type PlanLimits = Readonly<Record<PlanLimitName, number>>

export const planLimitNames = Object.keys(planLimits) as PlanLimitName[]

/** One limit as it was set. */
export interface LimitChange {
  readonly user_id: number | null
  readonly username: string | null
  readonly timestamp: number
  readonly value: number
}

/** As they lie among the stored settings, under a name that no setting can have. */
export interface StoredLimits {
  readonly limits: Partial<PlanLimits>
  readonly history: Readonly<Partial<Record<PlanLimitName, readonly LimitChange[]>>>
}

export const storedLimitsName = 'plan limits'

type Stored = readonly { readonly name: string; readonly value: unknown }[]

export function storedLimits(stored: Stored): StoredLimits {
  const found = stored.find(({ name }) => name === storedLimitsName)?.value
  return (found as StoredLimits | undefined) ?? { limits: {}, history: {} }
}

export function limitsOf(stored: Stored): PlanLimits {
  return { ...planLimits, ...storedLimits(stored).limits }
}
