import type { OutboundRules } from '../kernel/outbound/index.ts'
import type { SettingValues } from './catalogue/index.ts'

/** What the settings say of requests to addresses that users chose. */
export function outboundRules(values: SettingValues): OutboundRules {
  return {
    allowLocal: values.allow_local_requests_from_web_hooks_and_services,
    onlyAllowed: values.deny_all_requests_except_allowed,
    allowed: values.outbound_local_requests_whitelist,
    pinned: values.dns_rebinding_protection_enabled,
  }
}
