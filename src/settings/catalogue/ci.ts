import { Int, Nullable, Text } from '../../kernel/endpoint/types.ts'
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
  max_artifacts_size: setting(Int({ minimum: 1 }), 100, {
    about: 'Largest artifact archive of one job, in MiB.',
    effect: 'A larger upload gets 413.',
  }),
  ci_max_total_yaml_size_bytes: setting(Int({ minimum: 0 }), 314_572_800, {
    about: 'Largest configuration of a pipeline, all files together, in bytes.',
    effect: 'A pipeline above it has a configuration error.',
  }),
}
