import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from '../kernel/endpoint/headers.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The pages load nothing from elsewhere, run no script but their own, and cannot be framed. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface StaticFile {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** What the instance says of its pages. */
export interface PageOptions {
  /** Where visitors of the first page are sent; `forGood`: browsers may remember it. */
  readonly home: () => { readonly address: string; readonly forGood: boolean } | undefined
  /** Of `/.well-known/security.txt`, if there is one. */
  readonly securityText: () => string | null
  /** Whether browsers may count visits in with groups of interests. */
  readonly joinsCohorts: () => boolean
}

/** Pages for people: the landing page, the browsable API, sign-in, and their assets. All of it is static. */
export function mountPages(server: FastifyInstance, options: PageOptions): void {
  const pages = readFolder('pages')
  const assets = readFolder('assets')
  const sendPage = (request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply => {
    if (!options.joinsCohorts()) void reply.header('permissions-policy', 'interest-cohort=()')
    return sendFile(request, reply, pages.get(name)!)
  }
  server.get('/', (request, reply) => {
    const home = options.home()
    if (home === undefined) return sendPage(request, reply, 'home.html')
    return reply.redirect(home.address, home.forGood ? 301 : 302)
  })
  server.get('/-/api', (request, reply) => sendPage(request, reply, 'api.html'))
  server.get('/.well-known/security.txt', (_request, reply) => {
    const text = options.securityText()
    if (text === null) reply.callNotFound()
    else void reply.header('content-type', 'text/plain; charset=utf-8').send(text)
  })
  server.get('/users/sign_in', (request, reply) => sendPage(request, reply, 'sign-in.html'))
  server.get<{ Params: { name: string } }>('/-/assets/:name', (request, reply) => {
    const file = assets.get(request.params.name)
    if (file === undefined) reply.callNotFound()
    else void sendFile(request, reply, file)
  })
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
      'content-security-policy': policy,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
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
