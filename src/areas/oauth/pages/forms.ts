import type { FastifyReply } from 'fastify'
import { html, sendFormPage, type FormPage, type Html } from '../../../kernel/pages/index.ts'
import type { Application } from '../applications.ts'
import { authorizationFields, type Authorization } from '../authorization.ts'
import { meaningOf } from '../scopes.ts'
import type { SignedInVisitor } from '../visitor.ts'

export function problemPage(
  reply: FastifyReply,
  status: number,
  root: string,
  problem: string,
): FastifyReply {
  return sendFormPage(reply, status, {
    title: 'Authorization',
    root,
    body: html`<p role="alert">${problem}</p>`,
  })
}

export function csrfField({ csrfToken }: SignedInVisitor): Html {
  return html`<input type="hidden" name="authenticity_token" value="${csrfToken}" />`
}

/** What an application would be let do. */
export function wishes(
  visitor: SignedInVisitor,
  application: Pick<Application, 'name'>,
  scopes: readonly string[],
): Html {
  return html`<p>
      <strong>${application.name}</strong> asks to act for you, <strong>${visitor.user.username}</strong>. It
      could:
    </p>
    <ul>
      ${scopes.map((scope) => html`<li>${meaningOf(scope)} <small>(${scope})</small></li>`)}
    </ul>`
}

export const decisions: Html = html`<button type="submit" name="decision" value="allow">Authorize</button>
  <button type="submit" name="decision" value="deny">Cancel</button>`

/** Asks whether an application may act for somebody; `sent`: what it sent, which comes along. */
export function consentForm(
  visitor: SignedInVisitor,
  { application, redirectUri, scopes }: Authorization,
  sent: Readonly<Record<string, unknown>>,
): FormPage {
  return {
    title: 'Authorize an application',
    root: '..',
    body: html`${wishes(visitor, application, scopes)}
      <p>You will be sent to <code>${redirectUri}</code>.</p>
      <form method="post" action="authorize">
        ${csrfField(visitor)}
        ${authorizationFields.map((name) => {
          const value = sent[name]
          return typeof value === 'string' && html`<input type="hidden" name="${name}" value="${value}" />`
        })}
        ${decisions}
      </form>`,
  }
}
