import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { csrfTokenOf, sessionOf } from '../../access/index.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'
import { captchaAnswer, type SignInCaptcha } from '../spam/index.ts'
import { cookiesOf, deviceIn, endedCookie } from './cookie.ts'
import { readForm } from './form.ts'
import { isOwnPage } from './own-page.ts'
import { signIn, type SignInServices } from './sign-in.ts'
import * as store from './store.ts'

/** Tries of one address in a minute, right and wrong ones. */
const tries = 60

/** What the sign-in page sends to. Not of the REST API, which makes no sessions. */
export function mountSignIn(
  server: FastifyInstance,
  services: SignInServices & { readonly signInCaptcha: SignInCaptcha },
): void {
  const { signInCaptcha } = services
  const attempts = new RateLimit(tries, 60)

  server.post('/users/sign_in', async (request, reply) => {
    nameRequest('sign in')
    if (!isOwnPage(request)) return refuse(reply, 403, 'The form is not of this page.')
    attempts.use(request.ip)
    const form = await readForm(request.raw)
    if (form === undefined) return refuse(reply, 400, 'The form could not be read.')
    if (!(await signInCaptcha.admits(request.ip, form[captchaAnswer] ?? ''))) {
      return refuse(reply, 401, 'Please solve the captcha.', 'captcha')
    }
    const result = await signIn(
      services,
      {
        login: form['login'] ?? '',
        password: form['password'] ?? '',
        code: given(form['otp_attempt']),
        unlockCode: given(form['unlock_code']),
        newPassword: given(form['new_password']),
        remember: ['1', 'on', 'true'].includes(form['remember_me'] ?? ''),
      },
      {
        ip: request.ip,
        userAgent: request.headers['user-agent'],
        device: deviceIn(request.headers.cookie),
      },
    )
    // Who is asked for more has shown a password already.
    if ('refused' in result && result.needs === undefined) signInCaptcha.noteFailure(request.ip)
    if ('refused' in result) return refuse(reply, 401, result.refused, result.needs)
    return send(reply.header('set-cookie', cookiesOf(services, result)), 200, {
      username: result.account.username,
      csrf_token: csrfTokenOf(result.session),
      two_factor_setup_required: result.mustEnrol,
      must_accept_terms: result.mustAcceptTerms,
    })
  })

  // For pages to which somebody came signed in, as from a provider: they write with it, and no other site can read it.
  server.get('/users/csrf_token', (request, reply) => {
    const session = sessionOf(request.headers)
    if (session === undefined || !isOwnPage(request)) return refuse(reply, 403, 'There is no session.')
    return send(reply, 200, { csrf_token: csrfTokenOf(session) })
  })

  const signOut = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    nameRequest('sign out')
    const session = sessionOf(request.headers)
    if (session !== undefined) {
      if (!isOwnPage(request) || request.headers['x-csrf-token'] !== csrfTokenOf(session)) {
        return refuse(reply, 403, 'The CSRF token is missing.')
      }
      await services.db.transaction((tx) => store.close(tx, digestToken(session)))
    }
    const location = services.settings.values.after_sign_out_path ?? `${services.externalUrl()}/users/sign_in`
    return send(reply.header('set-cookie', endedCookie(services)), 200, { location })
  }
  server.post('/users/sign_out', signOut)
  server.delete('/users/sign_out', signOut)
}

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

function refuse(reply: FastifyReply, status: number, message: string, needs?: string): FastifyReply {
  return send(reply, status, { message, ...(needs !== undefined && { needs }) })
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-store')
    .send(Buffer.from(JSON.stringify(body)))
}
