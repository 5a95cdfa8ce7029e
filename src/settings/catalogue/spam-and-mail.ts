import { emailAddress, grpcUrl, hostOfAddresses } from '../formats.ts'
import { flag, ids, int, list, secret, textOrNull } from '../kinds.ts'

/** Spam filters, and what mails say and to whom they go. */
export const mailSettings = {
  abuse_notification_email: textOrNull(null, 'New abuse reports are mailed to this address.', {
    format: emailAddress,
  }),
  spamfilter_enabled: flag(
    false,
    'Ask the hosted spam filter about new issues, snippets and comments before saving them.',
    { strict: true, vendor: 'akismet_enabled' },
  ),
  spamfilter_api_key: secret('Key sent to the hosted spam filter.', { vendor: 'akismet_api_key' }),
  spam_check_endpoint_enabled: flag(
    false,
    'Ask the configured spam-check server about new issues, snippets and comments before saving them, and act on its verdict.',
    { strict: true },
  ),
  spam_check_endpoint_url: textOrNull(
    null,
    'Address of the spam-check server, as grpc://host:port; scheme tls makes the connection encrypted. Without a port it is 443.',
    { format: grpcUrl },
  ),
  spam_check_api_key: secret('Sent as authorization metadata to the spam-check server.', {
    longest: 2000,
  }),
  commit_email_hostname: textOrNull(
    null,
    'Host part of the private commit address <id>-<username>@<host> offered to users; blank falls back to users.noreply.<service host>.',
    { format: hostOfAddresses },
  ),
  user_deactivation_emails_enabled: flag(
    true,
    'When false, no e-mail is queued to a user who is deactivated.',
    { strict: true },
  ),
  email_additional_text: textOrNull(null, 'Legal text appended to every e-mail.', {
    longest: 10_000,
    plan: 'premium',
  }),
  email_author_in_body: flag(false, "Puts the author's name into the body of notification mails.", {
    strict: true,
    recorded: true,
  }),
  html_emails_enabled: flag(true, 'When false, only plain-text mails are sent.', {
    strict: true,
    recorded: true,
  }),
  mailgun_events_enabled: flag(false, 'Accepts delivery-failure events from the mail provider.', {
    strict: true,
  }),
  mailgun_signing_key: secret('Checks the signature of mail provider events.', {
    longest: 255,
  }),
  auto_ban_user_on_excessive_projects_download: flag(
    false,
    'Bans a user who downloads more distinct projects than allowed.',
    { strict: true, plan: 'ultimate' },
  ),
  max_number_of_repository_downloads: int(
    0,
    'Distinct repositories a user may download in the period; 0 off.',
    { min: 0, max: 10_000, strict: true, plan: 'ultimate' },
  ),
  max_number_of_repository_downloads_within_time_period: int(0, 'Length of that period, in seconds; 0 off.', {
    min: 0,
    max: 864_000,
    strict: true,
    plan: 'ultimate',
  }),
  git_rate_limit_users_allowlist: list([], 'User names exempt from the download limit.', {
    most: 100,
    tooMany: 'exceeds maximum length (100 usernames)',
    plan: 'ultimate',
  }),
  git_rate_limit_users_alertlist: ids(
    'User IDs mailed when the download limit is hit; empty means all active administrators.',
    { most: 100, tooMany: 'exceeds maximum length (100 user ids)', plan: 'ultimate' },
  ),
}
