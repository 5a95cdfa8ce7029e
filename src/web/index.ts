import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../kernel/endpoint/headers.ts'
import { html, Html, pageHeaders, pageHeadersWith } from '../kernel/pages/index.ts'
import { servedScripts } from './scripts.ts'

export { placePages } from './place-pages.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface StaticFile {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** What the instance says of its pages. */
export interface PageOptions {
  /** Where visitors of the first page are sent; `forGood`: browsers may remember it. */
  readonly home: () => { readonly address: string; readonly forGood: boolean } | undefined
  /** Where somebody has to go first, by the headers of the request. */
  readonly detour: (headers: IncomingHttpHeaders) => Promise<string | undefined>
  /** What the sign-in page tells somebody who was sent there for this reason. */
  readonly notice: (name: string) => string | undefined
  /** The captcha that is to be solved by who comes from this address, if one is. */
  readonly captcha: (ip: string) =>
    | {
        readonly siteKey: string
        readonly script: { readonly address: string; readonly sources: readonly string[] }
      }
    | undefined
  /** Who else tells who people are: the sign-in page leads there. */
  readonly providers: () => readonly { readonly name: string; readonly label: string }[]
  /** What the sign-in page shows of the instance: a title, safe HTML, and the path of a picture. */
  readonly appearance: () => Promise<
    { readonly title: string; readonly description: string; readonly logo: string | null } | undefined
  >
  /** Of `/.well-known/security.txt`, if there is one. */
  readonly securityText: () => string | null
  /** Whether browsers may count visits in with groups of interests. */
  readonly joinsCohorts: () => boolean
}

/** Pages for people: the landing page, the browsable API, the settings, sign-in, and their assets. All of it is static. */
export function mountPages(server: FastifyInstance, options: PageOptions): void {
  const pages = readFolder('pages')
  const assets = readFolder('assets')
  const sendPage = (request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply => {
    if (!options.joinsCohorts()) void reply.header('permissions-policy', 'interest-cohort=()')
    return sendFile(request, reply, pages.get(name)!)
  }
  server.get('/', async (request, reply) => {
    const detour = await options.detour(request.headers)
    if (detour !== undefined) return reply.redirect(detour, 302)
    const home = options.home()
    if (home === undefined) return sendPage(request, reply, 'home.html')
    return reply.redirect(home.address, home.forGood ? 301 : 302)
  })
  for (const name of ['api', 'settings']) {
    server.get(`/-/${name}`, async (request, reply) => {
      const detour = await options.detour(request.headers)
      return detour === undefined ? sendPage(request, reply, `${name}.html`) : reply.redirect(detour, 302)
    })
  }
  server.get('/.well-known/security.txt', (_request, reply) => {
    const text = options.securityText()
    if (text === null) reply.callNotFound()
    else void reply.header('content-type', 'text/plain; charset=utf-8').send(text)
  })
  server.get<{ Querystring: { notice?: unknown } }>('/users/sign_in', async (request, reply) => {
    const { notice: name } = request.query
    const notice = typeof name === 'string' ? options.notice(name) : undefined
    const providers = options.providers()
    const appearance = await options.appearance()
    const captcha = options.captcha(request.ip)
    const asItIs = notice === undefined && providers.length === 0 && appearance === undefined
    return asItIs && captcha === undefined
      ? sendPage(request, reply, 'sign-in.html')
      : sendSignIn(reply, pages.get('sign-in.html')!, { notice, providers, appearance, captcha })
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
          'content-type': contentTypes['.js']!,
          'cache-control': 'public, max-age=31536000, immutable',
        })
        .send(body)
    },
  )
  server.get<{ Params: { name: string } }>('/-/assets/:name', (request, reply) => {
    const file = assets.get(request.params.name)
    if (file === undefined) reply.callNotFound()
    else void sendFile(request, reply, file)
  })
}

/** The page with what the moment adds to it, which is not kept. */
function sendSignIn(
  reply: FastifyReply,
  { body, headers }: StaticFile,
  {
    notice,
    providers,
    appearance,
    captcha,
  }: {
    readonly notice: string | undefined
    readonly providers: ReturnType<PageOptions['providers']>
    readonly appearance: Awaited<ReturnType<PageOptions['appearance']>>
    readonly captcha: ReturnType<PageOptions['captcha']>
  },
): FastifyReply {
  const links = html`<p id="providers">
    ${providers.map(({ name, label }) => html`<a href="auth/${name}">Sign in with ${label}</a> `)}
  </p>`
  let text = body.toString('utf8')
  if (notice !== undefined) {
    text = text.replace(
      '<p id="notice" role="status" hidden></p>',
      () => html`<p id="notice" role="status">${notice}</p>`.text,
    )
  }
  if (providers.length > 0) text = text.replace('<p id="providers" hidden></p>', () => links.text)
  if (appearance !== undefined) {
    const { title, description, logo } = appearance
    const about = html`<div id="appearance">
      ${title !== '' && html`<h2>${title}</h2>`} ${new Html(description)}
    </div>`
    text = text.replace('<div id="appearance" hidden></div>', () => about.text)
    if (logo !== null)
      text = text.replace('<h1><img src="../-/assets/icon.svg"', () => html`<h1><img src="..${logo}"`.text)
  }
  if (captcha !== undefined) {
    const { siteKey, script } = captcha
    const widget = html`<div class="g-recaptcha" data-sitekey="${siteKey}"></div>`
    const loaded = html`<script src="${script.address}" async defer></script>`
    text = text
      .replace('<div id="captcha" hidden></div>', () => widget.text)
      .replace('</head>', () => `${loaded.text}</head>`)
  }
  return reply
    .headers({
      ...headers,
      ...(captcha !== undefined && pageHeadersWith(["'none'"], captcha.script.sources)),
      'cache-control': 'no-store',
    })
    .removeHeader('etag')
    .send(text)
}

function readFolder(name: string): ReadonlyMap<string, StaticFile> {
  const folder = path.join(import.meta.dirname, name)
  return new Map(readdirSync(folder).map((file) => [file, readStatic(path.join(folder, file))]))
}

function readStatic(file: string): StaticFile {
  const body = readFileSync(file)
  return {
    body,
    headers: {
      'content-type': contentTypes[path.extname(file)] ?? 'application/octet-stream',
      ...pageHeaders("'none'"),
      'cache-control': 'no-cache',
      etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    },
  }
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { body, headers }: StaticFile): FastifyReply {
  reply.headers(headers)
  return matchesEtag(request.headers['if-none-match'], headers['etag']!)
    ? reply.removeHeader('content-type').code(304).send()
    : reply.send(body)
}
