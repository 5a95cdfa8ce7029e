import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../kernel/endpoint/headers.ts'
import { pageHeaders, type Html } from '../kernel/pages/index.ts'
import { homePage } from './home-page.ts'
import { scriptedPage } from './scripted-page.ts'
import { servedScripts } from './scripts.ts'
import { signInPage, type SignInPage } from './sign-in-page.ts'

export { placePages } from './place-pages.ts'

/** Of the assets. */
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** What the instance says of its pages. */
export interface PageOptions {
  /** Where visitors of the first page are sent; `forGood`: browsers may remember it. */
  readonly home: () => { readonly address: string; readonly forGood: boolean } | undefined
  /** Where somebody has to go first, by the headers of the request. */
  readonly detour: (headers: IncomingHttpHeaders) => Promise<string | undefined>
  /** What the sign-in page tells somebody who was sent there for this reason. */
  readonly notice: (name: string) => SignInPage['notice']
  /** The captcha that is to be solved by who comes from this address, if one is. */
  readonly captcha: (ip: string) => SignInPage['captcha']
  readonly providers: () => SignInPage['providers']
  readonly appearance: () => Promise<SignInPage['appearance']>
  /** Of `/.well-known/security.txt`, if there is one. */
  readonly securityText: () => string | null
  /** Whether browsers may count visits in with groups of interests. */
  readonly joinsCohorts: () => boolean
}

/** Pages for people that are no places: the landing page, the browsable API, the settings, sign-in; and what all load. */
export function mountPages(server: FastifyInstance, options: PageOptions): void {
  const assets = readAssets()
  server.get('/', async (request, reply) => {
    const detour = await options.detour(request.headers)
    if (detour !== undefined) return reply.redirect(detour, 302)
    const home = options.home()
    if (home === undefined) return sendPage(request, reply, await homePage())
    return reply.redirect(home.address, home.forGood ? 301 : 302)
  })
  for (const [name, title] of [
    ['api', 'API'],
    ['settings', 'Settings'],
  ] as const) {
    server.get(`/-/${name}`, async (request, reply) => {
      const detour = await options.detour(request.headers)
      if (detour !== undefined) return reply.redirect(detour, 302)
      return sendPage(request, reply, await scriptedPage({ title, root: '..', script: `pages/${name}.js` }))
    })
  }
  server.get<{ Querystring: { notice?: unknown } }>('/users/sign_in', async (request, reply) => {
    const { notice: name } = request.query
    const captcha = options.captcha(request.ip)
    const page = await signInPage({
      notice: typeof name === 'string' ? options.notice(name) : undefined,
      providers: options.providers(),
      appearance: await options.appearance(),
      captcha,
    })
    return sendPage(request, reply, page, captcha?.script.sources)
  })
  server.get('/.well-known/security.txt', (_request, reply) => {
    const text = options.securityText()
    if (text === null) reply.callNotFound()
    else void reply.header('content-type', 'text/plain; charset=utf-8').send(text)
  })
  server.get<{ Params: { version: string; '*': string } }>(
    '/-/scripts/:version/*',
    async (request, reply) => {
      const { version, bodies } = await servedScripts()
      const body = bodies.get(request.params['*'])
      if (body === undefined || request.params.version !== version) {
        reply.callNotFound()
        return reply
      }
      return reply
        .headers({
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'public, max-age=31536000, immutable',
        })
        .send(body)
    },
  )
  server.get<{ Params: { name: string } }>('/-/assets/:name', (request, reply) => {
    const asset = assets.get(request.params.name)
    if (asset === undefined) reply.callNotFound()
    else void sendIfNew(request, reply, asset)
  })

  /** `guests`: whose scripts run in it, too. */
  function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    { text }: Html,
    guests?: readonly string[],
  ): FastifyReply {
    if (!options.joinsCohorts()) void reply.header('permissions-policy', 'interest-cohort=()')
    const page = { type: 'text/html; charset=utf-8', body: Buffer.from(text) }
    return sendIfNew(request, reply, page, guests)
  }
}

interface File {
  readonly type: string
  readonly body: Buffer
}

function readAssets(): ReadonlyMap<string, File> {
  const folder = path.join(import.meta.dirname, 'assets')
  return new Map(
    readdirSync(folder).map((name) => [
      name,
      { type: contentTypes[path.extname(name)]!, body: readFileSync(path.join(folder, name)) },
    ]),
  )
}

/** Sends what browsers may keep, if they ask each time whether it is still the same. */
function sendIfNew(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body }: File,
  guests?: readonly string[],
): FastifyReply {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  void reply.headers({ ...pageHeaders(["'none'"], guests), 'cache-control': 'no-cache', etag })
  return matchesEtag(request.headers['if-none-match'], etag)
    ? reply.code(304).send()
    : reply.header('content-type', type).send(body)
}
