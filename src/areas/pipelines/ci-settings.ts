/** What CI/CD reads of a project's settings. They are stored by the names of the API; what is absent has its default. */
export interface CiSettings {
  /** Path of the configuration in the repository. */
  readonly configPath: string
  /** Seconds a job may run. */
  readonly buildTimeout: number
  readonly autoCancelPendingPipelines: boolean
  readonly instanceRunners: boolean
  readonly groupRunners: boolean
  /** Commits that a runner fetches; 0: all. */
  readonly gitDepth: number
  readonly gitStrategy: 'fetch' | 'clone'
  readonly separatedCaches: boolean
  readonly keepLatestArtifact: boolean
  /** Jobs that would deploy something older than what is there fail. */
  readonly forwardDeployment: boolean
  /** Such a job may run again where it has run before. */
  readonly rollback: boolean
  /** Tokens of its jobs lead to listed projects only. */
  readonly limitsJobTokens: boolean
}

export const defaultConfigPath = '.gitlab-ci.yml'

export function ciSettings({
  settings,
}: {
  readonly settings: Readonly<Record<string, unknown>>
}): CiSettings {
  const path = settings['ci_config_path']
  return {
    configPath: typeof path === 'string' && path !== '' ? path : defaultConfigPath,
    buildTimeout: number(settings['build_timeout'], 3600),
    autoCancelPendingPipelines: settings['auto_cancel_pending_pipelines'] !== 'disabled',
    instanceRunners: settings['shared_runners_enabled'] !== false,
    groupRunners: settings['group_runners_enabled'] !== false,
    gitDepth: number(settings['ci_default_git_depth'], 20),
    gitStrategy: settings['build_git_strategy'] === 'clone' ? 'clone' : 'fetch',
    separatedCaches: settings['ci_separated_caches'] !== false,
    keepLatestArtifact: settings['keep_latest_artifact'] !== false,
    forwardDeployment: settings['ci_forward_deployment_enabled'] !== false,
    rollback: settings['ci_forward_deployment_rollback_allowed'] !== false,
    limitsJobTokens: settings['ci_job_token_scope_enabled'] === true,
  }
}

function number(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback
}
