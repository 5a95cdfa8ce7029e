import { re2 } from '../formats.ts'
import { choice, flag, int, list, secret, textOrNull } from '../kinds.ts'

/** Characters of a page that people read. */
const longestPage = 1_000_000

/** How accounts come to be: registration, its e-mail addresses, and the terms. */
export const signUpSettings = {
  signup_enabled: flag(
    true,
    'When false, self-registration is refused (the visitor is sent to sign-in with a notice) while administrators can still create users.',
    { strict: true },
  ),
  after_sign_up_text: textOrNull(null, 'Markdown shown to a person who has just registered.', {
    recorded: true,
  }),
  require_admin_approval_after_user_signup: flag(
    true,
    'Self-registered users start in state blocked_pending_approval and cannot use the API until an administrator approves them.',
    { strict: true },
  ),
  enforce_terms: flag(
    false,
    'When true, a user who has not accepted the stored terms gets 403 from the API and Git until they accept in the browser.',
  ),
  terms: textOrNull(
    null,
    'Markdown of the terms; each different text is stored as a new version that users accept or decline. A blank one leaves them as they are.',
    { longest: longestPage },
  ),
  email_restrictions_enabled: flag(
    false,
    'Turns on the sign-up check of the address against email_restrictions.',
  ),
  email_restrictions: textOrNull(
    null,
    'Self-registration, or a later e-mail change, with an address matching this RE2 expression is refused; users created by an administrator are exempt.',
    { format: re2 },
  ),
  domain_allowlist: list(
    [],
    'If not empty, only e-mail domains matching an entry (* wildcard, case-insensitive) may register or be changed to; users created by an administrator are exempt.',
    { commas: true },
  ),
  domain_denylist_enabled: flag(false, 'Turns the domain denylist on.', { strict: true }),
  domain_denylist: list(
    [],
    'While the denylist is on, e-mail domains matching an entry (* wildcard) may not register.',
    { commas: true },
  ),
  delete_unconfirmed_users: flag(false, 'An hourly job deletes users who never confirmed their e-mail.', {
    plan: 'premium',
  }),
  unconfirmed_users_delete_after_days: int(7, 'Age in days at which an unconfirmed user is deleted.', {
    min: 1,
    plan: 'premium',
  }),
  email_confirmation_setting: choice(
    ['off', 'soft', 'hard'],
    'off',
    'off: no confirmation; soft: new users may sign in for three days unconfirmed; hard: new users must confirm first.',
  ),
  invisible_captcha_enabled: flag(
    false,
    'Adds honeypot fields to the registration form and refuses forms that fill them.',
    { strict: true },
  ),
  login_recaptcha_protection_enabled: flag(false, 'Asks for a captcha after failed sign-ins.', {
    strict: true,
  }),
  recaptcha_enabled: flag(false, 'Asks for a captcha at sign-up and for suspected spam.', {
    strict: true,
  }),
  recaptcha_site_key: secret('Public key of the captcha provider.'),
  recaptcha_private_key: secret('Private key of the captcha provider.'),
}
