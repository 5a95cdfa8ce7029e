import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Kept {
  readonly etag: string
  readonly body: Buffer
}

/** A cache in front of the service, as one would set up for its raw files and archives: it asks whether what it has is still good. */
export class StaticCache implements AsyncDisposable {
  readonly url: string
  /** What it was answered. */
  readonly answers: {
    readonly path: string
    readonly status: number
    readonly cacheControl: string | null
  }[] = []
  readonly #server: Server
  readonly #kept = new Map<string, Kept>()

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** In front of the service at `origin`, which knows it by `token`. */
  static async open(origin: string, token: string): Promise<StaticCache> {
    const server = createServer((request, reply) => {
      void opened.#answer(request, origin, token).then(({ status, body, location }) => {
        reply.writeHead(status, location === null ? {} : { location }).end(body)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const opened = new StaticCache(server)
    return opened
  }

  async #answer(
    request: IncomingMessage,
    origin: string,
    token: string,
  ): Promise<{ status: number; body: Buffer; location: string | null }> {
    const url = new URL(request.url!, origin)
    const user = url.searchParams.get('token')
    url.searchParams.delete('token')
    const path = url.pathname + url.search
    const kept = this.#kept.get(path)
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: {
        'x-gitlab-external-storage-token': token,
        ...(user !== null && { 'x-gitlab-static-object-token': user }),
        ...(kept !== undefined && { 'if-none-match': kept.etag }),
      },
    })
    const { status, headers } = answer
    this.answers.push({ path, status, cacheControl: headers.get('cache-control') })
    if (status === 304 && kept !== undefined) return { status: 200, body: kept.body, location: null }
    const body = Buffer.from(await answer.arrayBuffer())
    if (status === 200) this.#kept.set(path, { etag: headers.get('etag')!, body })
    return { status, body, location: headers.get('location') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
