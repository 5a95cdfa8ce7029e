import { once } from 'node:events'
import type { WebSocket } from 'ws'
import { bytesOf, sendBytes } from './subprotocols.ts'

/** Bytes that may wait to be sent before the other side is made to wait. */
const mostWaiting = 64 * 1024
/** Milliseconds between two pings, which keep what lies between from ending a quiet connection. */
const pingInterval = 30_000
/** Milliseconds after which access is looked at again, where nothing tells of it. */
const checkInterval = 3000
/** Milliseconds that the other side has to say goodbye. */
const farewell = 2000

/** Why a terminal ends, with the code that browsers are told. */
export const endings = {
  over: { code: 1000, reason: 'The terminal has ended' },
  'job ended': { code: 1000, reason: 'The job has ended' },
  'too long': { code: 1000, reason: 'The longest time of a terminal is over' },
  'access lost': { code: 1008, reason: 'Access was lost' },
  'shutting down': { code: 1001, reason: 'The service stops' },
} as const
export type Ending = keyof typeof endings

export interface TerminalOptions {
  readonly client: WebSocket
  /** Paused. */
  readonly runner: WebSocket
  /** Seconds that it may be open, as things are now; 0: for ever. */
  readonly longest: () => number
  /** Why it may not go on, if it may not. Never rejects. */
  readonly problem: () => Promise<Ending | undefined>
}

/** A person's WebSocket and the runner's, joined for as long as both are there and the person may be. */
export class Terminal {
  /** Resolves when both sides are closed. */
  readonly closed: Promise<void>
  readonly #options: TerminalOptions
  readonly #openedAt = performance.now()
  readonly #pings: NodeJS.Timeout
  #next: NodeJS.Timeout | undefined
  #looking = false
  #ending: Ending | undefined

  constructor(options: TerminalOptions) {
    this.#options = options
    const { client, runner } = options
    this.closed = Promise.all([client, runner].map(closing)).then(() => undefined)
    for (const socket of [client, runner]) {
      socket.once('close', () => this.end('over'))
      // The close that follows says all there is to say.
      socket.on('error', () => undefined)
    }
    pump(client, runner)
    pump(runner, client)
    runner.resume()
    this.#pings = keepAlive(client)
    this.#wait()
  }

  get ending(): Ending | undefined {
    return this.#ending
  }

  end(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    clearTimeout(this.#next)
    clearInterval(this.#pings)
    const { code, reason } = endings[ending]
    for (const socket of [this.#options.client, this.#options.runner]) {
      // One that is paused would not hear the answer.
      socket.resume()
      socket.close(code, reason)
      const cut = setTimeout(() => socket.terminate(), farewell)
      socket.once('close', () => clearTimeout(cut))
    }
  }

  /** Looks now whether it may go on. */
  check(): void {
    if (this.#looking || this.#ending !== undefined) return
    this.#looking = true
    void this.#look()
  }

  async #look(): Promise<void> {
    const ending = this.#remaining() <= 0 ? 'too long' : await this.#options.problem()
    this.#looking = false
    if (ending === undefined) this.#wait()
    else this.end(ending)
  }

  #wait(): void {
    clearTimeout(this.#next)
    this.#next = setTimeout(() => this.check(), Math.min(checkInterval, Math.max(0, this.#remaining())))
  }

  /** Milliseconds. */
  #remaining(): number {
    const longest = this.#options.longest()
    return longest === 0 ? Infinity : longest * 1000 - (performance.now() - this.#openedAt)
  }
}

async function closing(socket: WebSocket): Promise<void> {
  if (socket.readyState !== socket.CLOSED) await once(socket, 'close')
}

/** What comes from one goes to the other, no faster than that takes it. */
function pump(from: WebSocket, to: WebSocket): void {
  from.on('message', (data) => {
    if (to.readyState !== to.OPEN) return
    sendBytes(to, bytesOf(from, data), () => {
      if (from.isPaused && to.bufferedAmount <= mostWaiting) from.resume()
    })
    if (to.bufferedAmount > mostWaiting) from.pause()
  })
}

/** Ends a connection whose other side is gone without a word. */
function keepAlive(socket: WebSocket): NodeJS.Timeout {
  let answered = true
  socket.on('pong', () => (answered = true))
  return setInterval(() => {
    // Who is made to wait is not read from, and cannot be heard.
    if (!answered && !socket.isPaused) socket.terminate()
    else socket.ping()
    answered = false
  }, pingInterval)
}
