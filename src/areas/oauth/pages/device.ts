import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RateLimit } from '../../../kernel/lib/rate-limit.ts'
import { nameRequest } from '../../../kernel/log/index.ts'
import { html, sendFormPage } from '../../../kernel/pages/index.ts'
import { answerOAuth } from '../answer.ts'
import { knownClient } from '../client.ts'
import { mayGrant } from '../consent.ts'
import { addDevice, decide, deviceInterval, deviceLife, findWaiting } from '../devices.ts'
import { invalidScope } from '../refusal.ts'
import { scopesIn } from '../scopes.ts'
import type { OAuthServices } from '../services.ts'
import { formOf, visitorOf, type SignedInVisitor } from '../visitor.ts'
import { csrfField, decisions, problemPage, wishes } from './forms.ts'

const path = '/oauth/device'
/** Codes that one user tries in a minute. */
const tries = 10

/** For what has no browser: it shows a code, which its user types in here (RFC 8628). */
export function mountDevice(server: FastifyInstance, services: OAuthServices): void {
  const { db, settings, externalUrl } = services
  const attempts = new RateLimit(tries, 60)

  server.post('/oauth/authorize_device', (request, reply) => {
    nameRequest('authorize a device')
    return answerOAuth(request, reply, async (form) => {
      const application = await knownClient(db.reader, request, form)
      const asked = scopesIn(form['scope'] ?? '')
      if (asked.some((scope) => !application.scopes.includes(scope))) throw invalidScope()
      const scopes = asked.length === 0 ? application.scopes : asked
      const { deviceCode, userCode } = await db.transaction((tx) => addDevice(tx, application.id, scopes))
      const address = externalUrl() + path
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: address,
        verification_uri_complete: `${address}?user_code=${userCode}`,
        expires_in: deviceLife,
        interval: deviceInterval,
      }
    })
  })

  /** Undefined when the visitor was sent elsewhere. */
  const visitorFor = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignedInVisitor | undefined> => {
    const visitor = await visitorOf(services, request)
    if (visitor === undefined) {
      void reply.redirect(`${externalUrl()}/users/sign_in?return_to=${encodeURIComponent(request.url)}`, 302)
    } else if (typeof visitor === 'string') void problemPage(reply, 403, '..', visitor)
    else return visitor
    return undefined
  }

  server.get<{ Querystring: { user_code?: unknown } }>(path, async (request, reply) => {
    nameRequest('ask for the code of a device')
    const visitor = await visitorFor(request, reply)
    if (visitor === undefined) return reply
    const { user_code: code } = request.query
    return sendFormPage(reply, 200, codeForm(visitor, typeof code === 'string' ? code : ''))
  })

  server.post(path, async (request, reply) => {
    nameRequest('answer a device')
    const visitor = await visitorFor(request, reply)
    if (visitor === undefined) return reply
    attempts.use(visitor.user.id)
    const form = await formOf(request, visitor)
    if (form === undefined) return problemPage(reply, 403, '..', 'The form is not of this page.')
    const code = form['user_code'] ?? ''
    const device = await findWaiting(db.reader, code)
    if (device === undefined) {
      return sendFormPage(reply, 422, codeForm(visitor, code, 'No device waits with this code.'))
    }
    if (!mayGrant(visitor.user, device, settings.values)) {
      return problemPage(reply, 403, '..', 'Administrators of this instance may not grant this.')
    }
    const decision = form['decision']
    if (decision === undefined) {
      return sendFormPage(reply, 200, {
        title: 'Authorize a device',
        root: '..',
        body: html`${wishes(visitor, device.application, device.scopes)}
          <form method="post" action="device">
            ${csrfField(visitor)}<input type="hidden" name="user_code" value="${code}" />${decisions}
          </form>`,
      })
    }
    await db.transaction((tx) => decide(tx, device.id, visitor.user.id, decision === 'allow'))
    const text =
      decision === 'allow'
        ? 'The device may act for you now. Go back to it.'
        : 'The device may not act for you.'
    return sendFormPage(reply, 200, {
      title: 'Authorize a device',
      root: '..',
      body: html`<p role="status">${text}</p>`,
    })
  })
}

function codeForm(visitor: SignedInVisitor, code: string, problem?: string) {
  return {
    title: 'Authorize a device',
    root: '..',
    body: html`${problem !== undefined && html`<p role="alert">${problem}</p>`}
      <form method="post" action="device">
        ${csrfField(visitor)}
        <label
          >The code that the device shows
          <input name="user_code" value="${code}" autocomplete="off" autocapitalize="characters" required
        /></label>
        <button type="submit">Go on</button>
      </form>`,
  }
}
