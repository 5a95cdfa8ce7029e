/** A refusal of OAuth (RFC 6749, 5.2), which has codes of its own. */
export class OAuthError extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, description: string, status = 400) {
    super(description)
    this.code = code
    this.status = status
  }
}

export function invalidGrant(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  )
}

export function invalidClient(): OAuthError {
  return new OAuthError(
    'invalid_client',
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
    401,
  )
}

export function invalidRequest(missing: string): OAuthError {
  return new OAuthError('invalid_request', `Missing required parameter: ${missing}.`)
}

export function invalidScope(): OAuthError {
  return new OAuthError('invalid_scope', 'The requested scope is invalid, unknown, or malformed.')
}
