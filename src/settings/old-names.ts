import { catalogue, type SettingName, type SettingValues } from './catalogue/index.ts'
import { flag } from './kinds.ts'
import type { Setting } from './setting.ts'

/**
 * Names under which a setting was known before, or under which it is sent in another form. They are taken, and where
 * `shown` says so answered too; storage and code know the present name only (completions of part 3, section 2).
 */
export interface OldName {
  /** Undefined: what is sent is taken note of, and changes nothing. */
  readonly of: SettingName | undefined
  /** As which it is checked, where that is not the present name. */
  readonly as?: Pick<Setting, 'take'>
  /** What is answered under it. */
  readonly shown?: (values: SettingValues) => unknown
}

function same(name: SettingName): OldName {
  return { of: name, shown: (values) => values[name] }
}

const optimisePeriod = (values: SettingValues) => values.housekeeping_optimize_repository_period
const anyPeriod: OldName = {
  of: undefined,
  as: catalogue.housekeeping_optimize_repository_period,
  shown: optimisePeriod,
}

export const oldNames: Readonly<Record<string, OldName>> = {
  admin_notification_email: { of: 'abuse_notification_email' },
  allow_local_requests_from_hooks_and_services: {
    ...same('allow_local_requests_from_web_hooks_and_services'),
    as: flag(false, '', { strict: true }),
  },
  asset_proxy_whitelist: same('asset_proxy_allowlist'),
  throttle_unauthenticated_enabled: same('throttle_unauthenticated_web_enabled'),
  throttle_unauthenticated_period_in_seconds: same('throttle_unauthenticated_web_period_in_seconds'),
  throttle_unauthenticated_requests_per_period: same('throttle_unauthenticated_web_requests_per_period'),
  signin_enabled: same('password_authentication_enabled_for_web'),
  password_authentication_enabled: same('password_authentication_enabled_for_web'),
  performance_bar_allowed_group_path: { of: 'performance_bar_allowed_group_id' },
  housekeeping_incremental_repack_period: {
    of: 'housekeeping_optimize_repository_period',
    shown: optimisePeriod,
  },
  // Repositories are optimised as a whole: these are taken, and do nothing.
  housekeeping_full_repack_period: anyPeriod,
  housekeeping_gc_period: anyPeriod,
  housekeeping_bitmaps_enabled: { of: undefined, shown: () => true },
  hashed_storage_enabled: { of: undefined, shown: () => true },
}
