import { Readable } from 'node:stream'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { ApiError, invalidParameters, unsupportedContentType } from '../errors/index.ts'
import { chainOfHeader, inChain } from '../lib/chain.ts'
import { requestContext, runInContext, type Logger, type RequestContext } from '../log/index.ts'
import { ApiRouter, routerOptions, type FoundRoute } from './api-router.ts'
import { call, type Gatekeeper } from './call.ts'
import { Answer, type RequestFacts } from './endpoint.ts'
import { commonHeaders, corsHeaders, preflightHeaders, requestId } from './headers.ts'
import { withOneSlash } from './one-slash.ts'
import { withReadablePath } from './readable-path.ts'
import type { Registry, Route } from './registry.ts'
import { asksForWebSocket, routeUpgrades } from './upgrades.ts'

export const apiPrefix = '/api/v4'

export interface ServerOptions {
  readonly log: Logger
  /** Scheme, host and port under which people reach the service, without a slash at the end. */
  readonly externalUrl: () => string
  /** Addresses and ranges of proxies that are believed about whom they forward. */
  readonly trustedProxies?: readonly string[]
  /** The address of an endpoint that answers reading requests for another address, too. */
  readonly twinOf?: (url: string) => string | undefined
  /** Called once for each answered request. */
  readonly observe?: (context: RequestContext, method: string, status: number, seconds: number) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined until the first hook has run. */
    context: RequestContext | undefined
  }
}

/** The HTTP server: request contexts, common headers, and the one place that renders errors. */
export function createServer({
  log,
  externalUrl,
  trustedProxies = [],
  twinOf = () => undefined,
  observe,
}: ServerOptions): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = log
  const server = Fastify({
    loggerInstance,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    logController: new LogController({ disableRequestLogging: true }),
    // What is logged of a request, we log ourselves.
    childLoggerFactory: (logger) => logger,
    routerOptions,
    rewriteUrl({ method, url: sent = '' }) {
      const url = withReadablePath(withOneSlash(sent))
      return (method === 'GET' || method === 'HEAD' ? twinOf(url) : undefined) ?? url
    },
    http: { shouldUpgradeCallback: asksForWebSocket },
    forceCloseConnections: 'idle',
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
    exposeHeadRoutes: true,
    return503OnClosing: false,
    // Before there is a route or a context.
    frameworkErrors: (error, request, reply) => {
      const context = { id: requestId(request.raw), startedAt: performance.now() }
      void reply.headers(commonHeaders(context.id, context.startedAt))
      const { origin } = request.headers
      if (origin !== undefined) void reply.headers(corsHeaders(origin, externalUrl()))
      void sendError(error, request, reply, log)
    },
  })
  routeUpgrades(server)
  // Bodies are read by `bag.ts`, or by the handlers of endpoints that stream.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', (_request, _payload, done) => done(null))

  server.decorateRequest('context', undefined)
  server.addHook('onRequest', (request, reply, done) => {
    const context: RequestContext = { id: requestId(request.raw), startedAt: performance.now(), sqlCount: 0 }
    request.context = context
    const { origin } = request.headers
    if (origin !== undefined && request.url.startsWith('/api/')) {
      void reply.headers(corsHeaders(origin, externalUrl()))
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        void reply
          .code(200)
          .headers(preflightHeaders(request.headers['access-control-request-headers']))
          .send()
        return
      }
    }
    runInContext(context, () => inChain(chainOfHeader(request.headers['x-gitlab-event-uuid']), done))
  })
  server.addHook('onSend', (request, reply, _payload, done) => {
    const context = request.context
    if (context !== undefined) {
      for (const [name, value] of Object.entries(commonHeaders(context.id, context.startedAt))) {
        if (!reply.hasHeader(name)) reply.header(name, value)
      }
      if (context.headers !== undefined) {
        for (const [name, value] of Object.entries(context.headers)) {
          if (!reply.hasHeader(name)) reply.header(name, value)
        }
      }
    }
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const context = request.context
    if (context !== undefined) {
      const milliseconds = performance.now() - context.startedAt
      observe?.(context, request.method, reply.statusCode, milliseconds / 1000)
      log.debug(
        {
          request_id: context.id,
          method: request.method,
          endpoint: context.endpoint,
          status: reply.statusCode,
          actor: context.actor,
          sql: context.sqlCount,
          ms: Math.round(milliseconds * 10) / 10,
        },
        'request',
      )
    }
    done()
  })
  server.setErrorHandler((error, request, reply) => sendError(error, request, reply, log))
  return server
}

/** Answers what is none of the API's; undefined where it has nothing either. */
export type Elsewhere = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | undefined

/** Mounts every endpoint of the registry, and what is answered where there is none. */
export function mountEndpoints(
  server: FastifyInstance,
  { routes }: Registry,
  gate: Gatekeeper,
  externalUrl: () => string,
  elsewhere: Elsewhere = () => undefined,
): void {
  const router = serveEndpoints(server, {
    routes,
    prefix: apiPrefix,
    url: `${apiPrefix}/*`,
    gate,
    externalUrl,
  })
  // Also of methods that the server does not know.
  server.setNotFoundHandler(
    (request, reply) => elsewhere(request, reply) ?? sendUnserved(router, request, reply),
  )
}

export interface Served {
  readonly routes: readonly Route[]
  /** What stands before the paths of the endpoints. */
  readonly prefix: string
  /** The addresses that are looked up among them. */
  readonly url: string
  readonly gate: Gatekeeper
  readonly externalUrl: () => string
  /** How refusals are answered where their form is another than the API's. */
  readonly refuse?: (refusal: ApiError) => Answer
}

/** Serves endpoints, also such as are no part of the API but are let in by the same gate. */
export function serveEndpoints(
  server: FastifyInstance,
  { routes, prefix, url, gate, externalUrl, refuse }: Served,
): ApiRouter {
  const router = new ApiRouter(routes, prefix)
  server.route({
    method: server.supportedMethods,
    url,
    onSend: withoutBody,
    handler: async (request, reply) => {
      const found = router.find(request.method, request.url)
      if (found === undefined) return sendUnserved(router, request, reply)
      try {
        return await answer(found, gate, externalUrl(), request, reply)
      } catch (error) {
        if (refuse === undefined || !(error instanceof ApiError)) throw error
        closeUnread(request, reply)
        return send(reply.headers(error.headers), refuse(error))
      }
    },
  })
  return router
}

/** HEAD tells the length of what GET would send. */
function withoutBody(
  request: FastifyRequest,
  reply: FastifyReply,
  body: unknown,
  done: (error: null, body: unknown) => void,
): void {
  const isHead = request.method === 'HEAD'
  if (isHead && body instanceof Readable) body.destroy()
  if (isHead && (typeof body === 'string' || body instanceof Uint8Array)) {
    void reply.header('content-length', Buffer.byteLength(body))
  }
  done(null, isHead ? null : body)
}

/** Nothing is there, or not by this method. */
function sendUnserved(router: ApiRouter, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = router.methodsAt(request.url)
  if (methods.length === 0) return sendNotFound(request, reply)
  void reply.header('allow', ['OPTIONS', ...methods].join(', '))
  return request.method === 'OPTIONS'
    ? reply.code(204).send()
    : sendJson(reply, 405, { error: '405 Not Allowed' })
}

async function answer(
  { route, values, format }: FoundRoute,
  gate: Gatekeeper,
  base: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const context = requestContext()
  if (context !== undefined) context.endpoint = `${route.endpoint.method} ${route.endpoint.path}`
  const result = await call(route, gate, {
    raw: request.raw,
    path: values,
    format,
    facts: (sent) => requestFacts(request, reply, sent),
    base,
  })
  return send(reply, result)
}

/** What a handler may know of the request itself. */
export function requestFacts(
  request: FastifyRequest,
  reply: FastifyReply,
  sent: RequestFacts['sent'] = {},
): RequestFacts {
  return new Facts(request, reply, sent)
}

/**
 * The signal is made when somebody asks for it. A class, since an object with a getter of its own has a shape of its own,
 * too, and that keeps all it refers to from being freed early.
 */
class Facts implements RequestFacts {
  readonly method: string
  readonly headers: RequestFacts['headers']
  readonly ip: string
  readonly sent: RequestFacts['sent']
  readonly body: RequestFacts['body']
  readonly #answer: FastifyReply['raw']
  #controller: AbortController | undefined

  constructor({ method, headers, ip, raw }: FastifyRequest, reply: FastifyReply, sent: RequestFacts['sent']) {
    this.method = method
    this.headers = headers
    this.ip = ip
    this.sent = sent
    this.body = raw
    this.#answer = reply.raw
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#abortedEarly()
    return this.#controller.signal
  }

  /** Aborted when the connection ends before the answer. */
  #abortedEarly(): AbortController {
    const controller = new AbortController()
    this.#answer.once('close', () => {
      if (!this.#answer.writableFinished) controller.abort()
    })
    return controller
  }
}

export function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply.code(status).headers(headers).serializer(asItIs).send(body)
}

/** A text whose type is said: with a serializer Fastify leaves the type as it is, else it adds a charset. */
const asItIs = (text: string): string => text

function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)))
}

function sendNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (/^\/api\/v3(\/|\?|$)/.test(request.url)) {
    return sendJson(reply, 410, { error: 'API V3 is no longer supported. Use API V4 instead.' })
  }
  return sendJson(reply, 404, { error: '404 Not Found' })
}

/** Fastify's own refusals in the API's words: a malformed address or header. */
function refusalOf(
  { code, message, statusCode }: Partial<FastifyError>,
  { headers }: FastifyRequest,
): ApiError | undefined {
  if (code === 'FST_ERR_BAD_URL') return invalidParameters(['path is invalid'])
  if (statusCode === 415) return unsupportedContentType(headers['content-type'] ?? '')
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return undefined
  return new ApiError(statusCode, { error: `${statusCode} ${message}` })
}

/** What is left of a refused body is not read: the connection ends with the answer. */
function closeUnread(request: FastifyRequest, reply: FastifyReply): void {
  if (!request.raw.complete && request.method !== 'GET') reply.header('connection', 'close')
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): FastifyReply {
  closeUnread(request, reply)
  const refusal = error instanceof ApiError ? error : refusalOf(error as FastifyError, request)
  if (refusal !== undefined) return sendJson(reply.headers(refusal.headers), refusal.status, refusal.body)
  const id = request.context?.id
  log.error(
    { err: error, request_id: id, method: request.method, url: request.url.split('?', 1)[0] },
    'a request failed',
  )
  return sendJson(reply, 500, { message: '500 Internal Server Error' })
}
