import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { sendFormPage } from '../../kernel/pages/index.ts'
import { accountByLogin, cookiesOf, deviceOf, isOwnPage, openSession, readForm } from '../sessions/index.ts'
import { confirm, sendAgain } from './confirmation.ts'
import { captchaAnswer } from '../spam/index.ts'
import { confirmationForm, signUpForm, trap, type Faults } from './forms.ts'
import { register } from './register.ts'
import type { SignUpServices } from './services.ts'

/** Forms that one address sends in a minute. */
const tries = 20

type Form = Readonly<Record<string, string>>

/** The pages of sign-up and of the confirmation of addresses; they work without a script. */
export function mountSignUp(server: FastifyInstance, services: SignUpServices): void {
  const attempts = new RateLimit(tries, 60)
  const { settings, captcha } = services
  const asksForCaptcha = () => settings.values.recaptcha_enabled && captcha.siteKey !== undefined
  const elsewhere = (reply: FastifyReply, notice: string) =>
    reply.redirect(`${services.externalUrl()}/users/sign_in?notice=${notice}`, 302)
  const isOpen = () =>
    settings.values.signup_enabled && settings.values.password_authentication_enabled_for_web
  const show = (reply: FastifyReply, status: number, sent: Form = {}, faults: Faults = {}) =>
    sendFormPage(
      reply,
      status,
      signUpForm(settings.values, asksForCaptcha() ? captcha : undefined, sent, faults),
    )

  /** The fields of a form that our page sent; undefined when it is refused, and that is answered. */
  const formOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Form | undefined> => {
    attempts.use(request.ip)
    const form = isOwnPage(request) ? await readForm(request.raw) : undefined
    if (form === undefined) {
      void reply.code(403).header('content-type', 'text/plain').send('The form is not of this page.\n')
    }
    return form
  }

  server.get('/users/sign_up', (_request, reply) =>
    isOpen() ? show(reply, 200) : elsewhere(reply, 'sign_ups_disabled'),
  )

  server.post('/users', async (request, reply) => {
    nameRequest('sign up')
    if (!isOpen()) return elsewhere(reply, 'sign_ups_disabled')
    const form = await formOf(request, reply)
    if (form === undefined) return reply
    // People do not see this field.
    if (settings.values.invisible_captcha_enabled && (form[trap] ?? '') !== '') {
      return show(reply, 422, form, { form: ['could not be taken. Please leave the last field empty.'] })
    }
    if (asksForCaptcha() && !(await captcha.isSolved(form[captchaAnswer] ?? '', request.ip))) {
      return show(reply, 422, form, { form: ['needs an answer to the captcha.'] })
    }
    const registration = {
      name: (form['name'] ?? '').trim(),
      username: (form['username'] ?? '').trim(),
      email: (form['email'] ?? '').trim(),
      password: form['password'] ?? '',
    }
    const registered = await register(services, registration)
    if ('faults' in registered) return show(reply, 422, form, registered.faults)
    if (registered.waits !== undefined) return elsewhere(reply, `waits_for_${registered.waits}`)
    const account = await accountByLogin(services.db.writer, registration.username)
    const device = deviceOf(services.cipher, account!.id)
    const place = { ip: request.ip, userAgent: request.headers['user-agent'], device }
    const opened = await openSession(services, account!, place)
    return reply
      .header('set-cookie', cookiesOf(services, opened))
      .redirect(`${services.externalUrl()}${opened.mustAcceptTerms ? '/-/users/terms' : '/'}`, 302)
  })

  server.get<{ Querystring: { confirmation_token?: unknown } }>(
    '/users/confirmation',
    async (request, reply) => {
      attempts.use(request.ip)
      const { confirmation_token: token } = request.query
      const confirmed = typeof token === 'string' && (await confirm(services, token))
      if (confirmed) return elsewhere(reply, 'confirmed')
      return sendFormPage(reply, 422, confirmationForm('This confirmation is not known, or has expired.'))
    },
  )
  server.get('/users/confirmation/new', (_request, reply) => sendFormPage(reply, 200, confirmationForm()))
  server.post('/users/confirmation', async (request, reply) => {
    nameRequest('ask for a confirmation')
    const form = await formOf(request, reply)
    if (form === undefined) return reply
    await sendAgain(services, (form['email'] ?? '').trim())
    return elsewhere(reply, 'confirmation_sent')
  })
}
