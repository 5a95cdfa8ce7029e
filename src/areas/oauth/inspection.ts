import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bearer, enter, entryProblem, instance, isTokenUsable, tokenCredentials } from '../../access/index.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { answerOAuth, sendJson, sendRefusal } from './answer.ts'
import { knownClient } from './client.ts'
import * as grants from './grants.ts'
import { claimsOf } from './identity.ts'
import { invalidClient, OAuthError } from './refusal.ts'
import type { OAuthServices } from './services.ts'

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000)

/** What applications ask of their tokens, and how they give them back. */
export function mountInspection(server: FastifyInstance, services: OAuthServices): void {
  const { db, settings, externalUrl } = services

  server.post('/oauth/revoke', (request, reply) => {
    nameRequest('revoke a granted token')
    return answerOAuth(request, reply, async (form) => {
      const application = await knownClient(db.reader, request, form)
      const token = await grants.findToken(db.reader, form['token'] ?? '')
      if (token !== undefined && token.application_id !== application.id) {
        throw new OAuthError('unauthorized_client', 'You are not authorized to revoke this token', 403)
      }
      if (token !== undefined) await db.transaction((tx) => grants.revoke(tx, token.id))
      return {}
    })
  })

  server.post('/oauth/introspect', (request, reply) => {
    nameRequest('introspect a granted token')
    return answerOAuth(request, reply, async (form) => {
      const application = await knownClient(db.reader, request, form)
      // Who cannot prove who it is could try out tokens of others.
      if (!application.confidential) throw invalidClient()
      const token = await grants.findToken(db.reader, form['token'] ?? '')
      const live =
        token?.application_id === application.id && !token.revoked && (token.refresh || !token.expired)
      if (!live) return { active: false }
      return {
        active: true,
        scope: token.scopes.join(' '),
        client_id: application.uid,
        username: token.username,
        sub: String(token.user_id),
        token_type: 'Bearer',
        ...(!token.refresh && { exp: seconds(token.expires_at) }),
        iat: seconds(token.created_at),
      }
    })
  })

  server.get('/oauth/token/info', async (request, reply) => {
    nameRequest('describe a granted token')
    const token = await grants.findToken(db.reader, bearer(request.headers) ?? '')
    if (token === undefined || token.refresh || token.revoked || token.expired)
      return sendRefusal(reply, badToken())
    return sendJson(reply, 200, {
      resource_owner_id: token.user_id,
      scope: token.scopes,
      expires_in: Math.max(0, Math.round((token.expires_at.getTime() - Date.now()) / 1000)),
      application: { uid: token.uid },
      created_at: seconds(token.created_at),
    })
  })

  const userInfo = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    nameRequest('tell who a user is')
    const sent = bearer(request.headers)
    if (sent === undefined) return sendRefusal(reply, badToken())
    const { actor, token } = await enter(db, instance, tokenCredentials(sent), {
      id: undefined,
      secretDigest: undefined,
    })
    const house = { values: settings.values, externalUrl: externalUrl() }
    if (actor?.user == null || token === undefined || !isTokenUsable(token))
      return sendRefusal(reply, badToken())
    if (token.id !== null || entryProblem(actor.user, house) !== undefined)
      return sendRefusal(reply, badToken())
    const { scopes } = actor.token!
    if (!scopes.includes('openid')) {
      const text = 'The request requires higher privileges than provided by the access token.'
      return sendRefusal(reply, new OAuthError('insufficient_scope', text, 403))
    }
    return sendJson(reply, 200, await claimsOf(services, actor.user.id, scopes))
  }
  server.get('/oauth/userinfo', userInfo)
  server.post('/oauth/userinfo', userInfo)
}

function badToken(): OAuthError {
  return new OAuthError('invalid_token', 'The access token is unknown, was revoked, or has expired.', 401)
}
