import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { html, sendFormPage } from '../../kernel/pages/index.ts'
import type { Settings } from '../../settings/index.ts'
import { csrfField, formOf, problemPage, visitorOf, type SignedInVisitor } from '../oauth/index.ts'
import { openInvitation, pagePath } from './invitations.ts'
import * as store from './store.ts'

export interface PageServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly settings: Settings
  readonly externalUrl: () => string
}

const tooLate = 'This address is not known, or its time is over. Give the command in the chat once more.'

/** Where people say who of a chat they are, and take it back. */
export function mountChatNames(server: FastifyInstance, services: PageServices): void {
  const { db, cipher, externalUrl } = services
  /** Who looks at a page; undefined when that is answered already. */
  const signedIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    root: string,
  ): Promise<SignedInVisitor | undefined> => {
    const visitor = await visitorOf(services, request)
    if (visitor === undefined)
      void reply.redirect(`${externalUrl()}/users/sign_in?return_to=${encodeURIComponent(request.url)}`, 302)
    else if (typeof visitor === 'string') void problemPage(reply, 403, root, visitor)
    else return visitor
    return undefined
  }
  const sentBy = async (request: FastifyRequest) => {
    const visitor = await visitorOf(services, request)
    const form =
      visitor === undefined || typeof visitor === 'string' ? undefined : await formOf(request, visitor)
    return form && { form, userId: (visitor as SignedInVisitor).user.id }
  }

  server.get(pagePath, async (request, reply) => {
    nameRequest('list own chat names')
    const visitor = await signedIn(request, reply, '../..')
    if (visitor === undefined) return reply
    const names = await store.namesOf(db.reader, visitor.user.id)
    return sendFormPage(reply, 200, {
      title: 'Chat',
      root: '../..',
      body: html`<p>In these chats commands are run in your name.</p>
        <ul>
          ${names.map(
            (name) =>
              html`<li>
                ${name.chat_name ?? name.chat_id} in ${name.team_domain ?? name.team_id}
                ${name.project !== null && html`<small>(${name.project})</small>`}
                <form method="post" action="chat_names/${name.id}/remove">
                  ${csrfField(visitor)}<button type="submit">Remove</button>
                </form>
              </li>`,
          )}
        </ul>`,
    })
  })

  server.get<{ Querystring: Record<string, unknown> }>(`${pagePath}/new`, async (request, reply) => {
    nameRequest('look at a chat name')
    const visitor = await signedIn(request, reply, '../../..')
    if (visitor === undefined) return reply
    const { token } = request.query
    const invitation = openInvitation(cipher, token)
    if (invitation === undefined) return problemPage(reply, 404, '../../..', tooLate)
    const { chatName, chatId, teamDomain, teamId, projectId } = invitation
    const of = projectId === null ? undefined : await store.pathOf(db.reader, projectId)
    return sendFormPage(reply, 200, {
      title: 'Chat',
      root: '../../..',
      body: html`<p>
          <strong>${chatName ?? chatId}</strong> in the chat <strong>${teamDomain ?? teamId}</strong> asks to
          run commands as you, <strong>${visitor.user.username}</strong>.
        </p>
        ${
          of !== undefined &&
          html`<p>
            These are the commands of <strong>${of}</strong>: whoever maintains it says who gives them.
          </p>`
        }
        <p>Go on only if that is you, and you have just given a command there.</p>
        <form method="post" action="../chat_names">
          ${csrfField(visitor)}
          <input type="hidden" name="token" value="${token as string}" />
          <button type="submit" name="decision" value="allow">Authorize</button>
          <button type="submit" name="decision" value="deny">Cancel</button>
        </form>`,
    })
  })

  server.post(pagePath, async (request, reply) => {
    nameRequest('answer a chat')
    const sent = await sentBy(request)
    if (sent === undefined) return problemPage(reply, 403, '../..', 'The form is not of this page.')
    const { form, userId } = sent
    const invitation = openInvitation(cipher, form['token'])
    if (invitation === undefined) return problemPage(reply, 404, '../..', tooLate)
    if (form['decision'] === 'allow')
      await db.transaction((tx) => store.linkUser(tx, { ...invitation, userId }))
    return reply.redirect(externalUrl() + pagePath, 302)
  })

  server.post<{ Params: { id: string } }>(`${pagePath}/:id/remove`, async (request, reply) => {
    nameRequest('remove a chat name')
    const sent = await sentBy(request)
    if (sent === undefined) return problemPage(reply, 403, '../../../..', 'The form is not of this page.')
    const { id } = request.params
    if (!/^\d{1,15}$/.test(id)) {
      reply.callNotFound()
      return reply
    }
    await db.transaction((tx) => store.unlink(tx, sent.userId, Number(id)))
    return reply.redirect(externalUrl() + pagePath, 302)
  })
}
