import type { OutboundRules } from '../kernel/outbound/index.ts'
import type { SettingValues } from './catalogue/index.ts'

/**
 * What the settings say of requests to addresses that users chose. `own`: the address of the service, which such
 * requests may reach wherever it stands: a webhook may start a pipeline here.
 */
export function outboundRules(values: SettingValues, own?: string): OutboundRules {
  return {
    allowLocal: values.allow_local_requests_from_web_hooks_and_services,
    onlyAllowed: values.deny_all_requests_except_allowed,
    allowed: [...values.outbound_local_requests_whitelist, ...placesOf(own)],
    pinned: values.dns_rebinding_protection_enabled,
  }
}

/** None while the service has no address yet. */
function placesOf(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address)
  return url === null ? [] : [`${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`]
}
