import { Readable } from 'node:stream'
import { ByteReader, GitError, RemoteRefusal, type RemoteWire } from '../../git/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import { loginOf, webAddress, type Address } from './address.ts'
import { MirrorProblem } from './problem.ts'

type Service = Parameters<RemoteWire['greet']>[0]

/** Git over HTTP: a request for each part of the conversation. The login goes in a header and nowhere else. */
export class HttpWire implements RemoteWire {
  readonly #outbound: Outbound
  readonly #address: Address
  readonly #signal: AbortSignal

  constructor(outbound: Outbound, address: Address, signal: AbortSignal) {
    this.#outbound = outbound
    this.#address = address
    this.#signal = signal
  }

  greet<Taken>(service: Service, take: (answer: ByteReader) => Promise<Taken>): Promise<Taken> {
    return this.#send(`/info/refs?service=${service}`, { method: 'GET', headers: {} }, take)
  }

  ask<Taken>(
    service: Service,
    question: AsyncIterable<Buffer>,
    take: (answer: ByteReader) => Promise<Taken>,
  ): Promise<Taken> {
    const headers = {
      'content-type': `application/x-${service}-request`,
      accept: `application/x-${service}-result`,
    }
    return this.#send(`/${service}`, { method: 'POST', headers, body: Readable.from(question) }, take)
  }

  async #send<Taken>(
    path: string,
    sent: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: Readable },
    take: (answer: ByteReader) => Promise<Taken>,
  ): Promise<Taken> {
    const signal = this.#signal
    const headers = { ...sent.headers, ...loginOf(this.#address) }
    const url = webAddress(this.#address) + path
    const got = await this.#outbound
      .exchange(url, { ...sent, headers, signal }, async ({ status, body }) => {
        if (status !== 200) throw refusalOf(status)
        return { taken: await take(new ByteReader(body)) }
      })
      .catch((error: unknown) => {
        if (signal.aborted || isTold(error)) throw error
        throw new MirrorProblem(`${this.#address.host} could not be reached`, { passing: true })
      })
    if ('blocked' in got) throw new MirrorProblem(got.blocked)
    return got.taken
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Each request has ended its own connection.
  }
}

function isTold(error: unknown): boolean {
  return error instanceof MirrorProblem || error instanceof RemoteRefusal || error instanceof GitError
}

function refusalOf(status: number): MirrorProblem {
  if (status === 401 || status === 403) return new MirrorProblem(`The login is refused (HTTP ${status})`)
  if (status === 404)
    return new MirrorProblem('There is no such repository, or not for this login (HTTP 404)')
  if (status >= 300 && status < 400)
    return new MirrorProblem(`The address leads somewhere else (HTTP ${status})`)
  return new MirrorProblem(`The other side answers with HTTP ${status}`, {
    passing: status >= 500 || status === 429,
  })
}
