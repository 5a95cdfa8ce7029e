import { once } from 'node:events'
import { WebSocket } from 'ws'

export const binary = 'terminal.gitlab.com'
export const base64 = 'base64.terminal.gitlab.com'

/** A terminal as its user has it: what is typed goes in, what is shown comes out. */
export class OpenTerminal {
  readonly socket: WebSocket
  /** Code and reason, once it is closed. */
  readonly closed: Promise<{ code: number; reason: string }>
  #shown = ''

  private constructor(socket: WebSocket) {
    this.socket = socket
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
    this.closed = promise
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary === this.#isBase64) throw new Error('a frame of the wrong kind')
      this.#shown += (this.#isBase64 ? Buffer.from(data.toString(), 'base64') : data).toString()
    })
  }

  /** Rejects with the status and text of the refusal where there is one. */
  static async open(
    address: string,
    headers: Readonly<Record<string, string>>,
    protocols: string[] = [binary],
  ): Promise<OpenTerminal> {
    const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols, { headers })
    const terminal = new OpenTerminal(socket)
    const { promise, reject } = Promise.withResolvers<never>()
    socket.on('error', reject)
    socket.once('unexpected-response', (_request, response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (piece: string) => (text += piece))
      response.on('end', () => reject(new Error(`${response.statusCode} ${text}`)))
    })
    await Promise.race([once(socket, 'open'), promise])
    return terminal
  }

  get #isBase64(): boolean {
    return this.socket.protocol === base64
  }

  get shown(): string {
    return this.#shown
  }

  type(text: string): void {
    this.socket.send(this.#isBase64 ? Buffer.from(text).toString('base64') : Buffer.from(text))
  }

  /** Until this has been shown, which fails when the terminal is closed first. */
  async sees(text: string): Promise<void> {
    for (;;) {
      if (this.#shown.includes(text)) return
      const over = await Promise.race([
        once(this.socket, 'message').then(() => undefined),
        this.closed.then((end) => end),
      ])
      if (over !== undefined && !this.#shown.includes(text)) {
        throw new Error(`closed with ${over.code} (${over.reason}) after: ${this.#shown}`)
      }
    }
  }
}
