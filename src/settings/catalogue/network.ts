import { Flag, ListOf, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Where the service itself may send requests. */
export const networkSettings = {
  allow_local_requests_from_web_hooks_and_services: setting(Flag(), false, {
    about: 'Whether requests to addresses that users chose may go into the local network.',
    effect: 'A configuration that includes a file from there is wrong while this is false.',
  }),
  outbound_local_requests_whitelist: setting(ListOf(Text({ maxLength: 255 })), [], {
    about: 'Hosts, addresses, ranges, and pairs of host and port that may be reached in spite of that.',
    effect: 'Files there can be included.',
  }),
  deny_all_requests_except_allowed: setting(Flag(), false, {
    about: 'Whether nothing but that list may be reached.',
    effect: 'Files from anywhere else cannot be included.',
  }),
}
