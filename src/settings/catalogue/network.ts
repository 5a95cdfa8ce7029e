import { addresses, httpUrl, reachable } from '../formats.ts'
import { decimalOrNull, flag, int, list, secret, text, textOrNull } from '../kinds.ts'

/** Characters of a page that people read. */
const longestPage = 1_000_000

/** Where the service itself may send requests, and who may reach it. */
export const networkSettings = {
  allow_local_requests_from_web_hooks_and_services: flag(
    false,
    'Whether requests to addresses that users chose may go into the local network. A configuration that includes a file from there is wrong while this is false.',
  ),
  allow_local_requests_from_system_hooks: flag(
    true,
    'When false, system hook URLs may not point at the local network.',
  ),
  outbound_local_requests_whitelist: list(
    [],
    'Hosts, addresses, ranges, and pairs of host and port that may be reached in spite of that. Files there can be included.',
    { most: 1000, longest: 255, format: reachable },
  ),
  outbound_local_requests_allowlist_raw: text(
    '',
    'Text form of outbound_local_requests_whitelist (newline, comma, semicolon or space separated); the writable one.',
  ),
  deny_all_requests_except_allowed: flag(
    false,
    'Whether nothing but that list may be reached. Files from anywhere else cannot be included.',
  ),
  external_authorization_service_enabled: flag(
    false,
    "Ask the policy server before showing a project's data and shut cross-project pages.",
  ),
  external_authorization_service_url: textOrNull(
    null,
    'Address that receives the access question (JSON POST); 200 grants, 401/403 deny, anything else denies uncached.',
    { format: httpUrl },
  ),
  external_authorization_service_default_label: textOrNull(null, 'Label sent for projects without one.'),
  external_authorization_service_timeout: decimalOrNull(
    0.5,
    'Seconds to wait for the answer; a time-out denies.',
    { max: 10, tooSmall: 'must be greater than 0' },
  ),
  security_txt_content: textOrNull(
    null,
    'Served as text/plain at /.well-known/security.txt without sign-in; blank makes that path 404.',
    { longest: 2048 },
  ),
  silent_mode_enabled: flag(
    false,
    'Stops outgoing traffic: webhooks are not delivered, e-mails are dropped, mirrors skipped, and outgoing HTTP other than GET/HEAD/OPTIONS/TRACE fails.',
  ),
  globally_allowed_ips: text(
    '',
    "Comma-separated addresses and ranges that pass every group's IP restriction.",
    { longest: 255, format: addresses },
  ),
  geo_node_allowed_ips: text(
    '0.0.0.0/0, ::/0',
    'Comma-separated addresses and ranges from which replica nodes may call.',
    { longest: 255, format: addresses, plan: 'premium', needs: 'replica node' },
  ),
  geo_status_timeout: int(10, "Seconds to wait for a replica node's status.", {
    plan: 'premium',
    needs: 'replica node',
  }),
  dns_rebinding_protection_enabled: flag(
    true,
    'Outgoing requests connect to the address that was checked, not to a second DNS answer.',
  ),
  allow_deploy_tokens_and_keys_with_external_authn: flag(
    false,
    'Lets deploy tokens and keys work while classification labels are used without a policy server.',
  ),
  external_auth_client_cert: textOrNull(null, 'Client certificate for the policy server.', {
    longest: longestPage,
  }),
  external_auth_client_key: secret('Private key of that certificate.', {
    longest: longestPage,
  }),
  external_auth_client_key_pass: secret('Passphrase of that key.'),
  maintenance_mode: flag(
    false,
    'Writes by anyone (POST, PUT, PATCH, DELETE) get 503 with the maintenance message and Retry-After 900; this settings endpoint stays open.',
    { strict: true, plan: 'premium' },
  ),
  maintenance_mode_message: textOrNull(
    null,
    'Text of the 503 answer and the banner; cleared when maintenance_mode is set to false.',
    { longest: 255, plan: 'premium' },
  ),
}
