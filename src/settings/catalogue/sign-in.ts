import { httpUrl } from '../formats.ts'
import { flag, int, intOrNull, list, textOrNull } from '../kinds.ts'
import { switches } from '../objects.ts'
import { signInSwitches } from '../sign-in-switches.ts'

/** How people sign in, and stay signed in. */
export const signInSettings = {
  password_authentication_enabled_for_web: flag(
    true,
    'When false, password sign-in on the web and the password sign-up form are switched off; token access is untouched.',
    { strict: true },
  ),
  admin_mode: flag(
    false,
    "When true, an administrator's API token only has administrator power if it carries the admin_mode scope (session users must re-authenticate); otherwise admin endpoints answer 403.",
    { strict: true },
  ),
  notify_on_unknown_sign_in: flag(
    true,
    'After a sign-in from an IP address and device not seen before, queue a warning e-mail to the user.',
  ),
  after_sign_out_path: textOrNull(null, 'After sign-out redirect to this URL instead of the sign-in page.', {
    format: httpUrl,
  }),
  home_page_url: textOrNull(
    null,
    "An unauthenticated GET of the site root redirects (302) to this URL, unless it equals the service's own URL.",
    { format: httpUrl },
  ),
  sign_in_restrictions: switches(
    signInSwitches,
    {},
    'Holds nested sign-in switches; each known key acts like the flat setting of the same name and unknown keys are rejected.',
  ),
  disabled_oauth_sign_in_sources: list(
    [],
    'Listed identity providers disappear from sign-in and their callbacks are refused; names that are not configured providers are dropped silently.',
    { commas: true },
  ),
  max_login_attempts: intOrNull(
    null,
    'Lock an account after this many consecutive wrong passwords (10 when null).',
    { min: 1 },
  ),
  failed_login_attempts_unlock_period_in_minutes: intOrNull(
    null,
    'A locked account becomes usable again this many minutes after it was locked (10 when null).',
    { min: 1 },
  ),
  session_expire_delay: int(10_080, 'Idle lifetime of a browser session, in minutes.', {
    min: 1,
    strict: true,
  }),
  require_two_factor_authentication: flag(
    false,
    'Every user without a second factor is sent to enrolment once the grace period is over; session-authenticated API calls then count as unauthenticated, token calls do not change.',
    { strict: true },
  ),
  require_admin_two_factor_authentication: flag(
    false,
    'Same enforcement as the all-users switch, limited to administrators.',
  ),
  two_factor_grace_period: int(
    48,
    'Hours a user may postpone second-factor enrolment, counted from first being asked; 0 means at once.',
    { min: 0, strict: true },
  ),
  unique_ips_limit_enabled: flag(
    false,
    'Turn on the per-user limit on distinct client IP addresses; a request over the limit gets 403.',
  ),
  unique_ips_limit_per_user: intOrNull(
    10,
    'Largest number of distinct IP addresses one user may use inside the window.',
    { min: 1, tooSmall: 'must be greater than or equal to 1' },
  ),
  unique_ips_limit_time_window: intOrNull(
    3600,
    'Seconds for which an address counts towards the distinct-IP limit.',
    { min: 0 },
  ),
  minimum_password_length: int(
    8,
    'Shortest password that is accepted, in characters. A shorter new password is refused; passwords there are keep working.',
    { min: 8, max: 128 },
  ),
  password_number_required: flag(false, 'New passwords must contain a digit.', { plan: 'premium' }),
  password_symbol_required: flag(false, 'New passwords must contain a symbol.', { plan: 'premium' }),
  password_uppercase_required: flag(false, 'New passwords must contain an upper-case letter.', {
    plan: 'premium',
  }),
  password_lowercase_required: flag(false, 'New passwords must contain a lower-case letter.', {
    plan: 'premium',
  }),
  password_authentication_enabled_for_git: flag(
    true,
    'When false, Git over HTTP(S) accepts tokens but no account passwords.',
    { strict: true },
  ),
  remember_me_enabled: flag(true, 'When false, sessions always end after the idle time.'),
  require_email_verification_on_account_locked: flag(
    false,
    'A locked account must verify by e-mailed code instead of waiting.',
  ),
  git_two_factor_session_expiry: int(15, 'Minutes a second-factor check for Git over SSH lasts.', {
    min: 1,
    max: 10_080,
    strict: true,
    plan: 'premium',
  }),
}
