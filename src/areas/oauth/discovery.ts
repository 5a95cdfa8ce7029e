import type { FastifyInstance } from 'fastify'
import { keysPath } from '../identity-tokens/index.ts'
import { oauthScopes } from './scopes.ts'

/** Tells clients where everything is (RFC 8414, OpenID Connect Discovery); both documents are one. */
export function mountDiscovery(
  server: FastifyInstance,
  { externalUrl }: { externalUrl: () => string },
): void {
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=3600' }
  for (const name of ['openid-configuration', 'oauth-authorization-server']) {
    server.get(`/.well-known/${name}`, (_, reply) =>
      reply.headers(headers).send(JSON.stringify(configuration(externalUrl()))),
    )
  }
}

function configuration(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    device_authorization_endpoint: `${issuer}/oauth/authorize_device`,
    jwks_uri: `${issuer}${keysPath}`,
    scopes_supported: oauthScopes,
    // Jobs get identity tokens without asking.
    response_types_supported: ['code', 'id_token'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      'authorization_code',
      'password',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claim_types_supported: ['normal'],
    claims_supported: [
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'],
      ...[
        'name',
        'nickname',
        'preferred_username',
        'profile',
        'picture',
        'groups_direct',
        'email',
        'email_verified',
      ],
    ],
  }
}
