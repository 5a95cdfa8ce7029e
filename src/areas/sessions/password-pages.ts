import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from '../../kernel/db/index.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { html, sendFormPage, type FormPage } from '../../kernel/pages/index.ts'
import {
  acceptInvitations,
  digestPassword,
  endSessions,
  findPasswordOwner,
  openPasswordLink,
  passwordFaults,
  passwordRules,
  sendPasswordLink,
} from '../users/index.ts'
import { readForm } from './form.ts'
import { isOwnPage } from './own-page.ts'
import type { SignInServices } from './sign-in.ts'
import { setPassword } from './store.ts'

/** Forms that one address sends in a minute. */
const tries = 20

const unknown = 'This link is not known, has been used, or has expired.'

/** The pages on which somebody chooses a password by a link that was mailed; they work without a script. */
export function mountPasswordPages(server: FastifyInstance, services: SignInServices): void {
  const { db, settings } = services
  const attempts = new RateLimit(tries, 60)
  const elsewhere = (reply: FastifyReply, notice: string) =>
    reply.redirect(`${services.externalUrl()}/users/sign_in?notice=${notice}`, 302)
  /** Where nobody signs in by a password nobody chooses one. */
  const whileOpen = {
    async onRequest(_request: FastifyRequest, reply: FastifyReply) {
      if (settings.values.password_authentication_enabled_for_web) return undefined
      return elsewhere(reply, 'passwords_unavailable')
    },
  }

  /** The fields of a form that our page sent; undefined when it is refused, and that is answered. */
  const formOf = async (request: FastifyRequest, reply: FastifyReply) => {
    attempts.use(request.ip)
    const form = isOwnPage(request) ? await readForm(request.raw) : undefined
    if (form === undefined) {
      void reply.code(403).header('content-type', 'text/plain').send('The form is not of this page.\n')
    }
    return form
  }

  server.get('/users/password/new', whileOpen, (_request, reply) => sendFormPage(reply, 200, askingForm()))

  server.post('/users/password', whileOpen, async (request, reply) => {
    nameRequest('ask for a password link')
    const form = await formOf(request, reply)
    if (form === undefined) return reply
    // Nobody is told whether there is such an account.
    await db.transaction(async (tx) => {
      const user = await findPasswordOwner(tx, (form['email'] ?? '').trim())
      if (user !== undefined) await sendPasswordLink(tx, services, user)
    })
    return elsewhere(reply, 'password_link_sent')
  })

  server.get<{ Querystring: { reset_password_token?: unknown } }>(
    '/users/password/edit',
    whileOpen,
    async (request, reply) => {
      attempts.use(request.ip)
      const { reset_password_token: token } = request.query
      const user =
        typeof token === 'string'
          ? await db.transaction((tx) => openPasswordLink(tx, services, token))
          : undefined
      return user === undefined
        ? sendFormPage(reply, 422, askingForm(unknown))
        : sendFormPage(reply, 200, choosingForm(token as string, settings.values.minimum_password_length))
    },
  )

  server.post('/users/password/edit', whileOpen, async (request, reply) => {
    nameRequest('choose a password')
    const form = await formOf(request, reply)
    if (form === undefined) return reply
    const token = form['reset_password_token'] ?? ''
    const chosen = await choose(services, token, form['password'] ?? '')
    if (chosen === 'unknown') return sendFormPage(reply, 422, askingForm(unknown))
    if (chosen !== 'done') {
      return sendFormPage(reply, 422, choosingForm(token, settings.values.minimum_password_length, chosen))
    }
    return elsewhere(reply, 'password_chosen')
  })
}

/** Sets the password; otherwise tells what is wrong with it, or that the link is. */
async function choose(
  services: SignInServices,
  token: string,
  password: string,
): Promise<'done' | 'unknown' | { readonly faults: readonly string[] }> {
  const { db, settings } = services
  const owner = await db.transaction((tx) => openPasswordLink(tx, services, token))
  if (owner === undefined) return 'unknown'
  const faults = passwordFaults(password, owner, passwordRules(settings.values))
  if (faults.length > 0) return { faults }
  const digest = await digestPassword(password)
  return db.transaction(async (tx) => {
    // Somebody may have used it while the digest was made.
    const user = await openPasswordLink(tx, services, token)
    if (user === undefined) return 'unknown'
    await setPassword(tx, user.id, digest)
    await endSessions(tx, user.id)
    // Whom the mail reached has the address.
    const { rows } = await sql`
      update users set confirmed_at = now(), confirmation_digest = null
      where id = ${user.id} and confirmed_at is null returning id`.execute(tx)
    if (rows.length > 0) await acceptInvitations(tx, user.id, user.email)
    return 'done'
  })
}

/** Where a link is asked for. */
function askingForm(problem?: string): FormPage {
  return {
    title: 'Forgot your password?',
    root: '../..',
    body: html`${problem !== undefined && html`<p role="alert">${problem}</p>`}
      <form method="post" action="../password">
        <label>E-mail <input name="user[email]" type="email" autocomplete="email" required /></label>
        <button type="submit">Send a link to choose a password</button>
      </form>`,
  }
}

function choosingForm(
  token: string,
  shortest: number,
  wrong?: { readonly faults: readonly string[] },
): FormPage {
  return {
    title: 'Choose your password',
    root: '../..',
    body: html`<form method="post" action="edit">
      ${wrong !== undefined && html`<p role="alert" id="faults">The password ${wrong.faults.join(', ')}.</p>`}
      <input name="user[reset_password_token]" type="hidden" value="${token}" />
      <label
        >New password
        <input
          name="user[password]"
          type="password"
          autocomplete="new-password"
          required
          ${wrong !== undefined && html`aria-invalid="true" aria-describedby="faults"`}
        /><small>At least ${String(shortest)} characters</small></label
      >
      <button type="submit">Save the password</button>
    </form>`,
  }
}
