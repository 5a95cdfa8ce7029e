import { createServer, type Server } from 'node:https'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { selfSigned } from './self-signed.ts'
import type { Json } from './world.ts'

/** A runner's session server, with a shell that answers each line with itself. */
export class SessionServer implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => [...offered].find((name) => this.speaks.includes(name)) ?? false,
  })
  readonly #certificate: string
  /** Subprotocols that it knows, the one it likes best first. */
  speaks: readonly string[] = ['terminal.gitlab.com']
  /** What it answers those who want in, if not with a terminal. */
  refusal: string | undefined
  /** Those who want in are made to wait, as while a job's environment is made. */
  holds = false
  readonly waiting: Duplex[] = []
  /** Bytes written to each terminal as it opens. */
  greeting = Buffer.from('ready$ ')
  /** The terminals that are open, and the requests that opened them. */
  readonly open: { readonly socket: WebSocket; readonly request: IncomingMessage }[] = []

  private constructor({ key, certificate }: ReturnType<typeof selfSigned>) {
    this.#certificate = certificate
    this.#server = createServer({ key, cert: certificate })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (this.holds) {
        this.waiting.push(socket)
        return
      }
      const allowed =
        request.url === `${path}/exec` && request.headers.authorization === authorization
          ? this.refusal
          : '401 Unauthorized'
      if (allowed !== undefined) {
        socket.end(`HTTP/1.1 ${allowed}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#serve(opened, request))
    })
  }

  static async start(host = '127.0.0.1'): Promise<SessionServer> {
    const made = new SessionServer(selfSigned(host))
    made.#server.listen(0, '127.0.0.1')
    await once(made.#server, 'listening')
    return made
  }

  /** What the runner says of it when it asks for a job. */
  get session(): { url: string; certificate: string; authorization: string } {
    const { port } = this.#server.address() as AddressInfo
    return { url: `https://127.0.0.1:${port}${path}`, certificate: this.#certificate, authorization }
  }

  get announced(): Json {
    return { session: this.session }
  }

  #serve(socket: WebSocket, request: IncomingMessage): void {
    const opened = { socket, request }
    this.open.push(opened)
    const base64 = socket.protocol.startsWith('base64.')
    const say = (bytes: Buffer): void => socket.send(base64 ? bytes.toString('base64') : bytes)
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary === base64) socket.close(1003)
      else
        say(
          Buffer.concat([Buffer.from('you said: '), base64 ? Buffer.from(data.toString(), 'base64') : data]),
        )
    })
    socket.on('close', () => this.open.splice(this.open.indexOf(opened), 1))
    say(this.greeting)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.open) socket.terminate()
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }
}

const path = '/session/0123456789abcdef'
const authorization = 'secret-of-the-session'
