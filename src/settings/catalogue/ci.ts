import { Flag, Int, Nullable, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Pipelines, jobs and their artifacts. */
export const ciSettings = {
  default_ci_config_path: setting(Nullable(Text({ maxLength: 255 })), null, {
    about: 'Path of the CI/CD configuration in new projects; null is `.gitlab-ci.yml`.',
    effect: 'Copied to `ci_config_path` of projects created from now on.',
  }),
  default_artifacts_expire_in: setting(Text(), '30 days', {
    about: 'Life of job artifacts that name none; `0` keeps them for ever.',
    effect: '`artifacts_expire_at` of the job.',
  }),
  keep_latest_artifact: setting(Flag(), true, {
    about: 'Artifacts of the latest successful pipeline of each ref never expire.',
    effect: 'When off they expire as all others do, and projects cannot turn it on.',
  }),
  max_artifacts_size: setting(Int({ minimum: 1 }), 100, {
    about: 'Largest artifact archive of one job, in MiB.',
    effect: 'A larger upload gets 413.',
  }),
  ci_max_total_yaml_size_bytes: setting(Int({ minimum: 0 }), 314_572_800, {
    about: 'Largest configuration of a pipeline, all files together, in bytes.',
    effect: 'A pipeline above it has a configuration error.',
  }),
  ci_max_includes: setting(Int({ minimum: 0 }), 150, {
    about: 'Most files that the configuration of a pipeline may include, each time they are included.',
    effect: 'A pipeline above it has a configuration error.',
  }),
  max_yaml_size_bytes: setting(Int({ minimum: 1 }), 2_097_152, {
    about: 'Largest single configuration file, in bytes.',
    effect: 'A pipeline with a larger one has a configuration error.',
  }),
  max_yaml_depth: setting(Int({ minimum: 1 }), 100, {
    about: 'Deepest nesting within a configuration file.',
    effect: 'A pipeline with a deeper one has a configuration error.',
  }),
  pipeline_limit_per_project_user_sha: setting(Int({ minimum: 0 }), 0, {
    about: 'Pipelines that one user may start for one commit of a project in a minute; 0 is unlimited.',
    effect: 'The next one is refused.',
  }),
  downstream_pipeline_trigger_limit_per_project_user_sha: setting(Int({ minimum: 0 }), 0, {
    about: 'The same for pipelines that trigger jobs start, counted at the commit that starts them.',
    effect: 'The trigger job fails with `reached_downstream_pipeline_trigger_rate_limit`.',
  }),
}
