import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { byPassword } from '../sessions/index.ts'
import type { Application } from './applications.ts'
import { answerOAuth } from './answer.ts'
import { clientOf, knownClient } from './client.ts'
import { mayGrant } from './consent.ts'
import { takeDevice } from './devices.ts'
import * as grants from './grants.ts'
import { identityToken } from './identity.ts'
import { invalidClient, invalidGrant, invalidRequest, invalidScope, OAuthError } from './refusal.ts'
import { scopesIn } from './scopes.ts'
import type { OAuthServices } from './services.ts'
import type { Form } from './visitor.ts'

/** Passwords that one address tries in a minute. */
const tries = 60
/** What a password alone gives, where no application is named. */
const usualScopes: readonly string[] = ['api']

/** What came of a grant: the tokens, and what the identity token is to tell besides. */
interface Granted {
  readonly tokens: grants.Tokens
  readonly userId: number
  readonly application: Application | undefined
  readonly nonce?: string | null
}

/** Changes what a user gave an application for tokens. */
export function mountTokenRoute(server: FastifyInstance, services: OAuthServices): void {
  const { db, settings } = services
  const attempts = new RateLimit(tries, 60)

  const byCode = async (request: FastifyRequest, form: Form): Promise<Granted> => {
    const application = await knownClient(db.reader, request, form)
    const sent = needed(form, 'code')
    const granted = await db.transaction(async (tx) => {
      const code = await grants.lockCode(tx, sent)
      if (code?.application_id !== application.id) return undefined
      if (code.used) {
        await grants.revokeLine(tx, code.line)
        return undefined
      }
      if (code.expired || code.redirect_uri !== form['redirect_uri'] || !isVerified(code, form))
        return undefined
      await grants.useCode(tx, code.id)
      const { scopes, user_id: userId, line } = code
      const tokens = await grants.addTokens(tx, { applicationId: application.id, userId, scopes, line })
      return { tokens, userId, application, nonce: code.nonce }
    })
    if (granted === undefined) throw invalidGrant()
    return granted
  }

  const byRefresh = async (request: FastifyRequest, form: Form): Promise<Granted> => {
    const application = await clientOf(db.reader, request, form)
    const sent = needed(form, 'refresh_token')
    const asked = scopesIn(form['scope'] ?? '')
    const granted = await db.transaction(async (tx) => {
      const old = await grants.lockByRefresh(tx, sent)
      if (old === undefined) return undefined
      if (old.application_id !== (application?.id ?? null)) {
        if (application === undefined) throw invalidClient()
        return undefined
      }
      if (old.revoked) {
        await grants.revokeLine(tx, old.line)
        return undefined
      }
      if (asked.some((scope) => !old.scopes.includes(scope))) throw invalidScope()
      await grants.revoke(tx, old.id)
      const scopes = asked.length === 0 ? old.scopes : asked
      const { application_id: applicationId, user_id: userId, line } = old
      return {
        tokens: await grants.addTokens(tx, { applicationId, userId, scopes, line }),
        userId,
        application,
      }
    })
    if (granted === undefined) throw invalidGrant()
    return granted
  }

  const byUserPassword = async (request: FastifyRequest, form: Form): Promise<Granted> => {
    attempts.use(request.ip)
    const application = await clientOf(db.reader, request, form)
    const login = { login: form['username'] ?? '', password: form['password'] ?? '' }
    const allowed = application?.scopes ?? usualScopes
    const asked = scopesIn(form['scope'] ?? '')
    if (asked.some((scope) => !allowed.includes(scope))) throw invalidScope()
    const scopes = asked.length === 0 ? allowed : asked
    const found = await byPassword(services, login, request.ip)
    // A password is not enough where there is a second factor, and neither is one that must be changed.
    if (
      'refused' in found ||
      found.account.state !== 'active' ||
      found.account.two_factor ||
      found.account.password_expired ||
      !mayGrant(found.account, { application, scopes }, settings.values)
    ) {
      throw invalidGrant()
    }
    const userId = found.account.id
    const tokens = await db.transaction((tx) =>
      grants.addTokens(tx, { applicationId: application?.id ?? null, userId, scopes }),
    )
    return { tokens, userId, application }
  }

  const byDevice = async (request: FastifyRequest, form: Form): Promise<Granted> => {
    const application = await knownClient(db.reader, request, form)
    return takeDevice(db, application, needed(form, 'device_code'))
  }

  const kinds: Readonly<Record<string, (request: FastifyRequest, form: Form) => Promise<Granted>>> = {
    authorization_code: byCode,
    refresh_token: byRefresh,
    password: byUserPassword,
    'urn:ietf:params:oauth:grant-type:device_code': byDevice,
  }

  server.post('/oauth/token', (request, reply) => {
    nameRequest('give a token')
    return answerOAuth(request, reply, async (form) => {
      const name = needed(form, 'grant_type')
      const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
      if (kind === undefined) {
        throw new OAuthError(
          'unsupported_grant_type',
          'The authorization grant type is not supported by the authorization server.',
        )
      }
      const { tokens, userId, application, nonce } = await kind(request, form)
      const { access_token, refresh_token, scopes, created_at } = tokens
      return {
        access_token,
        token_type: 'Bearer',
        expires_in: grants.tokenLife,
        refresh_token,
        scope: scopes.join(' '),
        created_at: Math.floor(created_at.getTime() / 1000),
        ...(scopes.includes('openid') &&
          application !== undefined && {
            id_token: await identityToken(services, { userId, scopes, audience: application.uid, nonce }),
          }),
      }
    })
  })
}

/** Whether who brings the code is who asked for it (RFC 7636). */
function isVerified({ challenge }: Pick<grants.Code, 'challenge'>, form: Form): boolean {
  const verifier = form['code_verifier']
  if (challenge === null) return true
  if (verifier === undefined || !/^[\w.~-]{43,128}$/.test(verifier)) return false
  return timingSafeEqual(Buffer.from(hash('sha256', verifier, 'base64url')), Buffer.from(challenge))
}

function needed(form: Form, name: string): string {
  const value = form[name]
  if (value === undefined || value === '') throw invalidRequest(name)
  return value
}
