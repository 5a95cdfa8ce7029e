import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import https, { type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import type { Json } from './world.ts'

export interface Answer {
  readonly status: number
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Says who gets to which projects; without an answer it hangs up. */
export class PolicyServerOfTests implements AsyncDisposable {
  readonly asked: Json[] = []
  /** Names of the certificates that were shown. */
  readonly shown: (string | undefined)[] = []
  answer: (question: Json) => Answer | undefined | Promise<Answer | undefined> = () => ({ status: 200 })
  readonly url: string
  readonly #server: http.Server | https.Server

  private constructor(server: http.Server | https.Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async open(options?: ServerOptions): Promise<PolicyServerOfTests> {
    const listener: RequestListener = (request, response) => {
      void (async () => {
        const question = JSON.parse(await text(request)) as Json
        opened.asked.push({ method: request.method, type: request.headers['content-type'], ...question })
        const { socket } = request
        if (socket instanceof TLSSocket) opened.shown.push([socket.getPeerCertificate().subject.CN].flat()[0])
        const answer = await opened.answer(question)
        if (answer === undefined) return socket.destroy()
        return response.writeHead(answer.status, answer.headers).end(answer.text)
      })()
    }
    const server = options === undefined ? http.createServer(listener) : https.createServer(options, listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const opened = new PolicyServerOfTests(
      server,
      `http${options === undefined ? '' : 's'}://127.0.0.1:${port}/ask`,
    )
    return opened
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
