import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Logger } from 'pino'

const line = /^(?:(?<state>[0-9A-Z]{5}) )?(?:postgres: )?(?<severity>[A-Z]+\d?): {2}(?<text>.*)$/

/**
 * Brings the server's stderr into our log, and remembers its last complaint for the error that follows. Statements that
 * fail are the caller's business and connections that end because the server stops are normal: both at debug.
 */
export class ServerLog {
  readonly #log: Logger
  #lastWords = ''

  constructor(log: Logger) {
    this.#log = log
  }

  /** Settles when the stream has ended. */
  async follow(stream: Readable): Promise<void> {
    try {
      for await (const text of createInterface({ input: stream })) this.add(text)
    } catch {
      // A broken pipe: the server is gone, which is noticed elsewhere.
    }
  }

  add(text: string): void {
    const { state, severity, text: message } = line.exec(text)?.groups ?? {}
    if (message === undefined) {
      // Of the runtime linker, of setpriv, or the rest of a message of several lines.
      if (text.trim() === '') return
      if (!text.startsWith('\t')) this.#lastWords = text.trim()
      this.#log.warn(`PostgreSQL: ${text.trim()}`)
      return
    }
    if (severity === 'FATAL' || severity === 'PANIC') this.#lastWords = message
    this.#log[levelOf(severity, state, message)](`PostgreSQL: ${message}`)
  }

  lastWords(): string {
    return this.#lastWords
  }
}

function levelOf(severity: string | undefined, state: string | undefined, message: string) {
  if (severity === 'PANIC') return 'error'
  // Class 57: told to stop, or not ready yet; 3D000: no such database, at the first start.
  if (severity === 'FATAL') return /^(57|3D000)/.test(state ?? '') ? 'debug' : 'warn'
  // A crashed server process is reported at level LOG, among the small talk.
  return severity === 'WARNING' || / was terminated by | exited with /.test(message) ? 'warn' : 'debug'
}
