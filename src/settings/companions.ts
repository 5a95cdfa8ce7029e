import type { SettingName } from './catalogue/index.ts'
import type { Faults } from './faults.ts'

/**
 * What must be in the same request as a switch that is turned on by it, even if it is stored already (completions of
 * part 3, section 4).
 */
const companions: Partial<Record<SettingName, readonly SettingName[]>> = {
  spamfilter_enabled: ['spamfilter_api_key'],
  spam_check_endpoint_enabled: ['spam_check_endpoint_url'],
  umlrender_enabled: ['umlrender_url'],
  diagrams_enabled: ['diagrams_url'],
  diagramrender_enabled: ['diagramrender_url'],
  codenav_enabled: ['codenav_url'],
  telemetry_enabled: ['telemetry_collector_hostname'],
  chat_app_enabled: [
    'chat_app_id',
    'chat_app_secret',
    'chat_app_signing_secret',
    'chat_app_verification_token',
  ],
  require_two_factor_authentication: ['two_factor_grace_period'],
  shared_runners_enabled: ['shared_runners_text'],
  recaptcha_enabled: ['recaptcha_site_key', 'recaptcha_private_key'],
  login_recaptcha_protection_enabled: ['recaptcha_site_key', 'recaptcha_private_key'],
  mailgun_events_enabled: ['mailgun_signing_key'],
  eks_integration_enabled: ['eks_account_id', 'eks_access_key_id', 'eks_secret_access_key'],
  gitpod_enabled: ['gitpod_url'],
  elasticsearch_indexing: ['elasticsearch_url'],
  elasticsearch_aws: ['elasticsearch_aws_region'],
}

const anyPeriod = ['housekeeping_incremental_repack_period', 'housekeeping_optimize_repository_period']
const oldPeriods = [
  'housekeeping_full_repack_period',
  'housekeeping_gc_period',
  'housekeeping_incremental_repack_period',
]
const oldSet = ['housekeeping_bitmaps_enabled', 'housekeeping_full_repack_period', 'housekeeping_gc_period']

/** What has to be sent along when a switch is turned on, of several sets the shortest. */
export function companionsOf(name: SettingName): readonly SettingName[] {
  return name === 'housekeeping_enabled'
    ? ['housekeeping_optimize_repository_period']
    : (companions[name] ?? [])
}

/** `sent`: the names in the request, the vendor's spelling replaced by ours. */
export function checkCompanions(
  change: Readonly<Record<string, unknown>>,
  sent: ReadonlySet<string>,
  faults: Faults,
): void {
  for (const [name, needed] of Object.entries(companions)) {
    if (change[name] !== true) continue
    for (const one of needed) if (!sent.has(one)) faults.parameter(`${one} is missing`)
  }
  if (change['housekeeping_enabled'] === true && !oldSet.every((name) => sent.has(name))) {
    const periods = anyPeriod.filter((name) => sent.has(name))
    if (periods.length === 0) {
      faults.parameter(`${anyPeriod.join(', ')} are missing, exactly one parameter must be provided`)
    } else if (periods.length > 1) faults.parameter(`${anyPeriod.join(', ')} are mutually exclusive`)
    const old = oldPeriods.filter((name) => sent.has(name))
    if (old.length > 0 && old.length < oldPeriods.length) {
      faults.parameter(`${oldPeriods.join(', ')} provide all or none of parameters`)
    }
  }
}
