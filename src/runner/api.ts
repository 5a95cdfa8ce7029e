import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import { userAgent } from './info.ts'

export interface Answer {
  status: number
  header(name: string): string | undefined
  text: string
}

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  path: string
  headers?: Record<string, string>
  body?: string | Buffer | (() => Readable)
  signal?: AbortSignal
  /** Milliseconds without any answer; 75 s by default, as a server may hold a request for a minute. */
  timeout?: number
}

// An answer we do not read to its end is an error page of something in between.
const longestText = 8 * 1024 * 1024

/** The runner's side of the HTTP connection: one pool for all jobs. */
export class Api implements AsyncDisposable {
  readonly #base: string
  readonly #agent = new Agent({ connectTimeout: 10_000, keepAliveTimeout: 30_000, pipelining: 1 })
  readonly #agentName: string

  constructor(url: string, version: string) {
    this.#base = `${url.replace(/\/+$/, '')}/api/v4`
    this.#agentName = userAgent(version)
  }

  /** Rejects when there is no answer; any status is an answer. */
  async call(call: Call): Promise<Answer> {
    const response = await this.#send(`${this.#base}${call.path}`, call)
    return answerOf(response, await textOf(response.body))
  }

  async json(method: Call['method'], path: string, body: unknown, more: Partial<Call> = {}): Promise<Answer> {
    return this.call({
      method,
      path,
      ...more,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...more.headers },
      body: JSON.stringify(body),
    })
  }

  /** As `call`, with the body as a stream and redirects followed; the headers go only to the instance itself. */
  async stream(call: Call): Promise<Answer & { body: Readable }> {
    let response = await this.#send(`${this.#base}${call.path}`, call)
    let address = `${this.#base}${call.path}`
    for (let hop = 0; hop < 5 && [301, 302, 303, 307, 308].includes(response.statusCode); hop++) {
      await response.body.dump()
      address = new URL(headerOf(response, 'location') ?? '', address).href
      response = await this.#send(address, { ...call, headers: {} })
    }
    const body = response.body
    if (response.statusCode === 200) return { ...answerOf(response, ''), body }
    return { ...answerOf(response, await textOf(body)), body: Readable.from([]) }
  }

  async [Symbol.asyncDispose]() {
    await this.#agent.destroy()
  }

  async #send(address: string, { method, headers, body, signal, timeout = 75_000 }: Call) {
    return request(address, {
      dispatcher: this.#agent,
      method,
      headers: { 'user-agent': this.#agentName, 'x-request-id': randomUUID(), ...headers },
      body: typeof body === 'function' ? body() : (body ?? null),
      headersTimeout: timeout,
      bodyTimeout: timeout,
      ...(signal === undefined ? {} : { signal }),
    })
  }
}

function answerOf(response: Dispatcher.ResponseData, text: string): Answer {
  return { status: response.statusCode, header: (name) => headerOf(response, name), text }
}

function headerOf(response: Dispatcher.ResponseData, name: string) {
  const value = response.headers[name]
  return Array.isArray(value) ? value[0] : value
}

async function textOf(body: Readable) {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length
    if (size > longestText) break
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
