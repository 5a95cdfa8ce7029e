import type { Reader } from '../../kernel/db/index.ts'
import type { Application } from './applications.ts'
import { isRegistered } from './redirects.ts'
import { scopesIn } from './scopes.ts'
import { findByUid } from './store.ts'

/** What an application asks a user for. */
export interface Authorization {
  readonly application: Application
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly state: string | undefined
  readonly challenge: string | null
  readonly nonce: string | null
}

/** The request is of somebody whose word about where to send the answer does not count. */
export interface Distrusted {
  readonly problem: string
}

/** The application is told of its fault. */
export interface Faulty {
  readonly redirectUri: string
  readonly state: string | undefined
  readonly error: string
  readonly description: string
}

type Query = Readonly<Record<string, unknown>>

/** The fields of a request for authorization, which go along through the page of consent. */
export const authorizationFields = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
] as const

const longestText = 2000
/** Of a SHA-256 in base64url. */
const challengeForm = /^[\w-]{43}$/

/** Reads what an application sent a browser with (RFC 6749, 4.1.1; RFC 7636). */
export async function readAuthorization(
  db: Reader,
  query: Query,
): Promise<Authorization | Distrusted | Faulty> {
  const text = (name: (typeof authorizationFields)[number]): string | undefined => {
    const value = query[name]
    return typeof value === 'string' && value !== '' && value.length <= longestText && !value.includes('\0')
      ? value
      : undefined
  }
  const application = await findByUid(db, text('client_id') ?? '')
  if (application === undefined) {
    return {
      problem:
        'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
    }
  }
  const only = application.redirect_uris.length === 1 ? application.redirect_uris[0] : undefined
  const redirectUri = query['redirect_uri'] === undefined ? only : text('redirect_uri')
  if (redirectUri === undefined || !isRegistered(application.redirect_uris, redirectUri)) {
    return { problem: 'The redirect URI included is not valid.' }
  }
  const state = text('state')
  const fault = (error: string, description: string): Faulty => ({ redirectUri, state, error, description })
  if (text('response_type') !== 'code') {
    return fault('unsupported_response_type', 'The authorization server does not support this response type.')
  }
  const asked = scopesIn(text('scope') ?? '')
  const scopes = asked.length === 0 ? application.scopes : asked
  if (scopes.some((scope) => !application.scopes.includes(scope))) {
    return fault('invalid_scope', 'The requested scope is invalid, unknown, or malformed.')
  }
  const challenge = text('code_challenge') ?? null
  if (challenge === null ? !application.confidential : !challengeForm.test(challenge)) {
    return fault('invalid_request', 'Code challenge is required.')
  }
  if (challenge !== null && text('code_challenge_method') !== 'S256') {
    return fault('invalid_request', 'The code challenge method must be S256.')
  }
  return { application, redirectUri, scopes, state, challenge, nonce: text('nonce') ?? null }
}
