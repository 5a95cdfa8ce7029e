/** Switches of `sign_in_restrictions` that may be sent, and are answered, by themselves too. */
export const signInSwitches = [
  'disable_password_authentication_for_users_with_sso_identities',
  'root_moved_permanently_redirection',
  'session_expire_from_init',
  'require_minimum_email_based_otp_for_users_with_passwords',
] as const
