import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { nameRequest } from '../../../kernel/log/index.ts'
import { html, sendFormPage } from '../../../kernel/pages/index.ts'
import { readAuthorization, type Authorization } from '../authorization.ts'
import { mayGrant } from '../consent.ts'
import { addCode, hasGranted } from '../grants.ts'
import { formTarget, withQuery } from '../redirects.ts'
import type { OAuthServices } from '../services.ts'
import { formOf, visitorOf, type SignedInVisitor } from '../visitor.ts'
import { consentForm, problemPage } from './forms.ts'

const path = '/oauth/authorize'

/** Where people say whether an application may act for them. */
export function mountAuthorize(server: FastifyInstance, services: OAuthServices): void {
  const { db, settings, externalUrl } = services

  /** What is asked for and by whom of whom; undefined when that is answered already. */
  const begin = async (
    request: FastifyRequest,
    reply: FastifyReply,
    sent: Readonly<Record<string, unknown>>,
  ): Promise<Authorization | undefined> => {
    const asked = await readAuthorization(db.reader, sent)
    if ('problem' in asked) void problemPage(reply, 400, '..', asked.problem)
    else if ('error' in asked) {
      const { redirectUri, state, error, description } = asked
      sendBack(reply, redirectUri, { error, error_description: description, state })
    } else return asked
    return undefined
  }

  const allow = async (
    reply: FastifyReply,
    { user }: SignedInVisitor,
    asked: Authorization,
  ): Promise<void> => {
    const code = await db.transaction((tx) =>
      addCode(tx, { ...asked, applicationId: asked.application.id, userId: user.id }),
    )
    sendBack(reply, asked.redirectUri, { code, state: asked.state })
  }

  server.get<{ Querystring: Record<string, unknown> }>(path, async (request, reply) => {
    nameRequest('authorize an application')
    const visitor = await visitorOf(services, request)
    if (visitor === undefined) {
      const back = encodeURIComponent(request.url)
      return reply.redirect(`${externalUrl()}/users/sign_in?return_to=${back}`, 302)
    }
    if (typeof visitor === 'string') return problemPage(reply, 403, '..', visitor)
    const asked = await begin(request, reply, request.query)
    if (asked === undefined) return reply
    const { application, scopes } = asked
    if (!mayGrant(visitor.user, asked, settings.values)) return notForAdministrators(reply)
    const known =
      application.trusted ||
      (application.confidential && (await hasGranted(db.reader, visitor.user.id, application.id, scopes)))
    if (known) {
      await allow(reply, visitor, asked)
      return reply
    }
    return sendFormPage(reply, 200, consentForm(visitor, asked, request.query), [
      formTarget(asked.redirectUri),
    ])
  })

  server.post(path, async (request, reply) => {
    nameRequest('answer an application')
    const visitor = await visitorOf(services, request)
    if (visitor === undefined || typeof visitor === 'string') {
      return problemPage(reply, 403, '..', visitor ?? 'You are not signed in.')
    }
    const form = await formOf(request, visitor)
    if (form === undefined) return problemPage(reply, 403, '..', 'The form is not of this page.')
    const asked = await begin(request, reply, form)
    if (asked === undefined) return reply
    if (!mayGrant(visitor.user, asked, settings.values)) return notForAdministrators(reply)
    if (form['decision'] === 'allow') await allow(reply, visitor, asked)
    else {
      sendBack(reply, asked.redirectUri, {
        error: 'access_denied',
        error_description: 'The resource owner or authorization server denied the request.',
        state: asked.state,
      })
    }
    return reply
  })
}

function notForAdministrators(reply: FastifyReply): FastifyReply {
  return sendFormPage(reply, 403, {
    title: 'Not for administrators',
    root: '..',
    body: html`<p role="alert">
      This application asks for more than administrators of this instance may grant an application that is not
      trusted.
    </p>`,
  })
}

function sendBack(reply: FastifyReply, uri: string, query: Record<string, string | undefined>): void {
  void reply.header('cache-control', 'no-store').redirect(withQuery(uri, query), 302)
}
