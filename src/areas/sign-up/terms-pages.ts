import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { csrfTokenOf, owesTerms, PageVisitors, type Visitor } from '../../access/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { Html, html, sendFormPage } from '../../kernel/pages/index.ts'
import { enforcedTerms, type Terms } from '../../settings/index.ts'
import { closeSession, endedCookie, isOwnPage, readForm } from '../sessions/index.ts'
import type { SignUpServices } from './services.ts'
import * as store from './store.ts'

const path = '/-/users/terms'

/** The terms as people read them, and where they accept or decline them. */
export function mountTerms(server: FastifyInstance, services: SignUpServices): void {
  const { db, settings, texts, externalUrl } = services
  const visitors = new PageVisitors(db, settings)

  server.get(path, async (request, reply) => {
    const terms = enforcedTerms(settings.values)
    if (terms === undefined) {
      reply.callNotFound()
      return reply
    }
    const visitor = await visitors.of(request.headers)
    const id = await db.transaction((tx) => store.versionOf(tx, terms))
    const text = await texts.render({ text: terms.text, language: 'markdown' })
    return sendFormPage(reply, 200, {
      title: 'Terms of Service',
      root: '../..',
      body: html`${
          visitor !== undefined &&
          owesTerms(visitor, settings.values) &&
          html`<p role="alert">Please accept the Terms of Service before continuing.</p>`
        }
        <div class="terms">${new Html(text)}</div>
        ${visitor !== undefined && answers(visitor, id)}`,
    })
  })

  const answering = (accepted: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    nameRequest(accepted ? 'accept the terms' : 'decline the terms')
    const visitor = await visitors.of(request.headers)
    const form = isOwnPage(request) ? await readForm(request.raw) : undefined
    if (visitor === undefined || form?.['authenticity_token'] !== csrfTokenOf(visitor.session)) {
      return reply.code(403).header('content-type', 'text/plain').send('The form is not of this page.\n')
    }
    if (!(await note(visitor, (request.params as { id: string }).id, accepted))) {
      reply.callNotFound()
      return reply
    }
    if (accepted) return reply.redirect(`${externalUrl()}/`, 302)
    await db.transaction((tx) => closeSession(tx, digestToken(visitor.session)))
    return reply
      .header('set-cookie', endedCookie(services))
      .redirect(`${externalUrl()}/users/sign_in?notice=terms_declined`, 302)
  }
  server.post(`${path}/:id/accept`, answering(true))
  server.post(`${path}/:id/decline`, answering(false))

  /** Whether there is such a version. */
  async function note(visitor: Visitor, id: string, accepted: boolean): Promise<boolean> {
    if (!/^\d{1,15}$/.test(id)) return false
    return db.transaction(async (tx) => {
      const digest: Terms['digest'] | undefined = await store.digestOf(tx, Number(id))
      if (digest === undefined) return false
      await store.agree(tx, visitor.id, { id: Number(id), digest }, accepted)
      return true
    })
  }
}

function answers({ session, username }: Visitor, id: number): Html {
  const button = (act: string, label: string) =>
    html`<form method="post" action="terms/${id}/${act}">
      <input type="hidden" name="authenticity_token" value="${csrfTokenOf(session)}" />
      <button type="submit">${label}</button>
    </form>`
  return html`<p>You are signed in as <strong>${username}</strong>.</p>
    ${button('accept', 'Accept the terms')} ${button('decline', 'Decline and sign out')}`
}
