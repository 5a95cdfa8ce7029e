import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RateLimit } from '../../kernel/lib/rate-limit.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import { html, sendFormPage, type Html } from '../../kernel/pages/index.ts'
import {
  accountById,
  cookieFor,
  cookieOf,
  cookiesOf,
  deviceIn,
  isOwnPage,
  openSession,
  problemOf,
  provesCode,
  readForm,
  type Account,
  type SignInServices,
} from '../sessions/index.ts'
import { accountOf } from './accounts.ts'
import type { SingleSignOn } from './index.ts'
import type { Begun, Provider } from './provider.ts'

/** Requests of one address in a minute. */
const tries = 60
/** Seconds that somebody may take at the provider, and for the code of his second factor. */
const patience = 600
const cookie = 'sign_in_elsewhere'
const beginning = 'cookies.sign_in_elsewhere'
const ticketContext = 'forms.second_factor'

/** What the browser keeps, sealed, while it is at the provider. */
interface Journey extends Begun {
  readonly provider: string
  readonly returnTo: string
  readonly until: number
}

/** What the form of the second factor carries, sealed. */
interface Ticket {
  readonly userId: number
  readonly provider: string
  readonly returnTo: string
  readonly until: number
}

type Path = { Params: { provider: string } }

/** Sign-in at providers: there, back, and in. */
export function mountSingleSignOn(
  server: FastifyInstance,
  services: SignInServices & { readonly singleSignOn: SingleSignOn },
): void {
  const { singleSignOn, cipher, externalUrl, log } = services
  const attempts = new RateLimit(tries, 60)
  const callbackOf = (provider: Provider) => `${externalUrl()}/users/auth/${provider.config.name}/callback`
  const elsewhere = (reply: FastifyReply, notice: string) =>
    reply.redirect(`${externalUrl()}/users/sign_in?notice=${notice}`, 302)

  /** The provider of the path, if it may be used now; else that is answered. */
  const providerOf = (request: FastifyRequest<Path>, reply: FastifyReply): Provider | undefined => {
    attempts.use(request.ip)
    const { provider: name } = request.params
    const provider = singleSignOn.find(name)
    if (provider === undefined) reply.callNotFound()
    else if (singleSignOn.isDisabled(name)) void elsewhere(reply, 'provider_disabled')
    else return provider
    return undefined
  }

  server.get<Path & { Querystring: { return_to?: unknown } }>(
    '/users/auth/:provider',
    async (request, reply) => {
      nameRequest('sign in elsewhere')
      const provider = providerOf(request, reply)
      if (provider === undefined) return reply
      if (!isOwnPage(request)) return elsewhere(reply, 'provider_failed')
      const start = await provider
        .begin(callbackOf(provider))
        .catch((error: unknown) => told(provider, error))
      if (start === undefined) return elsewhere(reply, 'provider_failed')
      const journey: Journey = {
        ...start.begun,
        provider: provider.config.name,
        returnTo: pageOfOurs(request.query.return_to),
        until: Date.now() + patience * 1000,
      }
      const sealed = cipher.seal(JSON.stringify(journey), beginning)
      return reply
        .header('set-cookie', cookieFor(services, cookie, sealed, patience))
        .header('cache-control', 'no-store')
        .redirect(start.address, 302)
    },
  )

  server.get<Path>('/users/auth/:provider/callback', async (request, reply) => {
    nameRequest('come back from a provider')
    const provider = providerOf(request, reply)
    if (provider === undefined) return reply
    void reply.header('set-cookie', cookieFor(services, cookie, '', 0))
    const journey = open<Journey>(beginning, cookieOf(cookie, request.headers.cookie))
    if (journey?.provider !== provider.config.name) return elsewhere(reply, 'provider_failed')
    const returned = new URL(callbackOf(provider))
    returned.search = new URL(request.url, externalUrl()).search
    const claims = await provider.finish(returned, journey).catch((error: unknown) => told(provider, error))
    if (claims === undefined) return elsewhere(reply, 'provider_failed')
    const found = await accountOf(services, provider.config, claims)
    return 'refused' in found ? refuse(reply, found.refused) : letIn(request, reply, { ...found, ...journey })
  })

  server.post<Path>('/users/auth/:provider/code', async (request, reply) => {
    nameRequest('show a second factor')
    const provider = providerOf(request, reply)
    if (provider === undefined) return reply
    const form = isOwnPage(request) ? await readForm(request.raw) : undefined
    const ticket = open<Ticket>(ticketContext, form?.['ticket'])
    if (form === undefined || ticket?.provider !== provider.config.name)
      return elsewhere(reply, 'provider_failed')
    return letIn(request, reply, ticket, form['otp_attempt'] ?? '')
  })

  /** Opens a session, once all that the account needs is shown. */
  async function letIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { userId, provider, returnTo }: Omit<Ticket, 'until'>,
    code?: string,
  ): Promise<FastifyReply> {
    const account = await accountById(services.db, userId)
    if (account === undefined) return elsewhere(reply, 'provider_failed')
    const problem = account.locked
      ? 'Your account is locked.'
      : await problemOf(services, account, request.ip)
    if (problem !== undefined) return refuse(reply, problem)
    if (account.two_factor && !(code !== undefined && (await provesCode(services, account, code)))) {
      return askForCode(
        reply,
        account,
        { provider, returnTo },
        code === undefined ? undefined : 'The code is wrong.',
      )
    }
    const place = {
      ip: request.ip,
      userAgent: request.headers['user-agent'],
      device: deviceIn(request.headers.cookie),
    }
    const opened = await openSession(services, account, place)
    return reply
      .header('set-cookie', cookiesOf(services, opened))
      .redirect(`${externalUrl()}${opened.mustAcceptTerms ? '/-/users/terms' : returnTo}`, 303)
  }

  function askForCode(
    reply: FastifyReply,
    { id: userId }: Account,
    journey: Pick<Ticket, 'provider' | 'returnTo'>,
    problem: string | undefined,
  ): FastifyReply {
    const ticket: Ticket = { ...journey, userId, until: Date.now() + patience * 1000 }
    const sealed = cipher.seal(JSON.stringify(ticket), ticketContext)
    return sendFormPage(reply, problem === undefined ? 200 : 401, {
      title: 'Second factor',
      root: '../../..',
      body: html`${problem !== undefined && html`<p role="alert">${problem}</p>`}
        <form method="post" action="code">
          <input type="hidden" name="ticket" value="${sealed}" />
          <label
            >Code of your authenticator, or a recovery code
            <input name="user[otp_attempt]" autocomplete="one-time-code" required autofocus
          /></label>
          <button type="submit">Sign in</button>
        </form>`,
    })
  }

  function open<Kept extends { readonly until: number }>(
    context: string,
    sealed: string | undefined,
  ): Kept | undefined {
    const opened = sealed === undefined ? undefined : cipher.tryOpen(sealed, context)
    const kept = opened === undefined ? undefined : (JSON.parse(opened) as Kept)
    return kept !== undefined && kept.until > Date.now() ? kept : undefined
  }

  /** What the provider did not do is its fault, or the browser's: the log has the reason. */
  function told({ config: { name } }: Provider, error: unknown): undefined {
    log.warn({ provider: name, reason: String(error) }, 'a provider did not tell who somebody is')
  }
}

function refuse(reply: FastifyReply, problem: string): FastifyReply {
  const back: Html = html`<p><a href="../../sign_in">Back to sign-in</a></p>`
  return sendFormPage(reply, 403, {
    title: 'Sign in',
    root: '../../..',
    body: html`<p role="alert">${problem}</p>
      ${back}`,
  })
}

/** A path of the service; anything else, which could lead to another site, is the first page. */
function pageOfOurs(path: unknown): string {
  return typeof path === 'string' && path.length < 2000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/'
}
