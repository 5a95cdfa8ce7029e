import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Json } from './world.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: Json
}

/** A small server that webhooks call; it keeps what it got and answers as it is told. */
export class Receiver implements AsyncDisposable {
  readonly url: string
  readonly received: Received[] = []
  /** Status and body of the next answers. */
  answers: { status: number; text: string } = { status: 200, text: 'thanks' }
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async open(): Promise<Receiver> {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        receiver.received.push({
          path: request.url ?? '',
          headers: request.headers,
          text: body,
          body: JSON.parse(body) as Json,
        })
        response.writeHead(receiver.answers.status, { 'x-receiver': 'yes' }).end(receiver.answers.text)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const receiver = new Receiver(server)
    return receiver
  }

  /** What came under this path and fits; waits for it. */
  async next(path: string, fits: (body: Json) => boolean = () => true): Promise<Received> {
    const deadline = Date.now() + 20_000
    for (;;) {
      const found = this.received.find((one) => one.path === path && fits(one.body))
      if (found !== undefined) return found
      if (Date.now() > deadline) throw new Error(`nothing that fits came to ${path}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
