import { httpUrl } from '../formats.ts'
import { choiceOrNull, flag, int, intOrNull, secret, textOrNull } from '../kinds.ts'
import { weights } from '../objects.ts'

/** Repositories: where they lie, how they are reached, and what of them is shown. */
export const repositorySettings = {
  repository_storages_weighted: weights(
    { default: 100 },
    'Weights (0-100) for the random choice of a storage for each new repository; only configured storage names are allowed.',
  ),
  housekeeping_enabled: flag(
    true,
    'Whether the packs of a repository are put together after enough pushes to it.',
    {
      strict: true,
    },
  ),
  housekeeping_optimize_repository_period: int(
    10,
    'Pushes after which the packs of a repository are put together; it is looked at every ten minutes.',
    { min: 1, strict: true },
  ),
  enabled_git_access_protocol: choiceOrNull(
    ['ssh', 'http', 'all', ''],
    'The one protocol over which git may be used, `ssh` or `http`; `all`, which is kept as an empty text, is both. Git over the other one is refused with a text that the client shows.',
  ),
  custom_http_clone_url_root: textOrNull(null, 'Root used in http_url_to_repo instead of the service URL.', {
    longest: 511,
  }),
  receive_max_input_size: intOrNull(
    null,
    'MiB that one push may bring; null or 0 is no limit. A larger push is refused while it is received.',
  ),
  repository_size_limit: int(
    0,
    'MiB that one repository may have; 0 is no limit. Whatever would make it larger is refused, by any way; branches can still be taken away.',
    {
      min: 0,
      strict: true,
      plan: 'premium',
    },
  ),
  repository_checks_enabled: flag(false, 'Runs regular repository integrity checks.', {
    strict: true,
    recorded: true,
  }),
  static_objects_external_storage_url: textOrNull(
    null,
    'Address of a cache that serves raw files and archives: who asks for one is sent there, with a token where not everybody may have it.',
    { format: httpUrl },
  ),
  static_objects_external_storage_auth_token: secret(
    'By which that cache shows who it is, in the header `X-Gitlab-External-Storage-Token`.',
  ),
  gitaly_timeout_default: int(55, 'Seconds of a class of storage calls; fast <= medium <= default.', {
    min: 0,
    max: 57,
    strict: true,
    recorded: true,
  }),
  gitaly_timeout_medium: int(30, 'Seconds of a class of storage calls; fast <= medium <= default.', {
    min: 0,
    strict: true,
    recorded: true,
  }),
  gitaly_timeout_fast: int(10, 'Seconds of a class of storage calls; fast <= medium <= default.', {
    min: 0,
    strict: true,
    recorded: true,
  }),
  push_event_activities_limit: int(
    3,
    'A push changing more refs than this makes one bulk event instead of many.',
    { min: 0, strict: true },
  ),
  push_event_hooks_limit: int(
    3,
    'A push changing more refs than this triggers no webhooks or integrations.',
    { min: 0, strict: true },
  ),
  mirror_available: flag(true, 'When false, only administrators may configure repository mirrors.'),
  mirror_capacity_threshold: int(50, 'Scheduling of pull mirrors.', {
    min: 1,
    plan: 'premium',
    recorded: true,
  }),
  mirror_max_capacity: int(100, 'Scheduling of pull mirrors.', { min: 1, plan: 'premium', recorded: true }),
  mirror_max_delay: int(300, 'Most minutes between two looks of a pull mirror.', {
    min: 1,
    plan: 'premium',
    recorded: true,
  }),
}
