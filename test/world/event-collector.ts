import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { certificate, certificateKey } from './certificate.ts'
import type { Json } from './world.ts'

export interface Told {
  readonly request: string
  readonly type: string | undefined
  readonly schema: string
  readonly data: readonly Readonly<Record<string, string>>[]
}

/** Takes events of trackers, over HTTPS. */
export class EventCollector implements AsyncDisposable {
  readonly told: Told[] = []
  /** What it answers; 0: nothing at all. */
  status = 200
  readonly host: string
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<EventCollector> {
    const server = createServer({ cert: certificate, key: certificateKey }, (request, reply) => {
      void json(request).then((body) => {
        const { schema, data } = body as Json & Pick<Told, 'schema' | 'data'>
        const { method, url, headers } = request
        opened.told.push({ request: `${method} ${url}`, type: headers['content-type'], schema, data })
        if (opened.status === 0) return request.socket.destroy()
        return reply.writeHead(opened.status).end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const opened = new EventCollector(server)
    return opened
  }

  /** All that it was told since it was last asked. */
  events(): Told['data'] {
    return this.told.splice(0).flatMap(({ data }) => data)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
