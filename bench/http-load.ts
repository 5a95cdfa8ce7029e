import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pace } from './pace.ts'

export interface LoadRequest {
  readonly method: string
  /** `{n}` in it, or in the body, becomes another number with each request. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface LoadOrder {
  readonly port: number
  readonly connections: number
  /** Seconds in which requests are sent. */
  readonly seconds: number
  /** Sent in turn; each connection begins at another place. */
  readonly requests: readonly LoadRequest[]
  /** Requests a second, evenly; without it each connection asks again as soon as it is answered. */
  readonly rate?: number
}

/** Times in milliseconds. */
export interface LoadResult {
  /** Answers of status 2xx a second. */
  readonly rate: number
  readonly answers: number
  readonly p50: number
  readonly p90: number
  readonly p95: number
  readonly p99: number
  readonly mean: number
  /** How often each: a status that is not 2xx, or what broke. */
  readonly errors: Readonly<Record<string, number>>
}

/** Milliseconds after which an answer is given up. */
const patience = 15_000
let counter = Math.floor(Date.now() / 1000) * 100_000

/**
 * Keeps so many connections busy, each with one request at a time, for a number of seconds. It reads of an answer no
 * more than it must, straight from the socket: a whole HTTP client would take as much of the machine as the service.
 */
export async function load({ port, connections, seconds, requests, rate }: LoadOrder): Promise<LoadResult> {
  const texts = requests.map((request) => write(request, port))
  const times: number[] = []
  const errors: Record<string, number> = {}
  const count = (what: string): void => {
    errors[what] = (errors[what] ?? 0) + 1
  }
  const begin = performance.now()
  const end = begin + seconds * 1000
  const turn = rate === undefined ? async () => performance.now() : pace(rate)
  const connect = async (start: number): Promise<void> => {
    for (let at = start; performance.now() < end;) {
      const connection = new Connection(port)
      try {
        await connection.opened
        for (; performance.now() < end; at += 1) {
          const sent = await turn()
          const status = await connection.ask(texts[at % texts.length]!())
          if (status >= 200 && status < 300) times.push(performance.now() - sent)
          else count(String(status))
        }
      } catch (error) {
        at += 1
        count((error as Error).message)
        await sleep(10)
      } finally {
        connection.close()
      }
    }
  }
  const places = Array.from({ length: connections }, (_, index) =>
    Math.floor((index * requests.length) / connections),
  )
  await Promise.all(places.map(connect))
  const took = (performance.now() - begin) / 1000
  const sorted = Float64Array.from(times).sort()
  return {
    rate: times.length / took,
    answers: times.length,
    p50: percentile(sorted, 0.5),
    p90: percentile(sorted, 0.9),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    mean: times.length === 0 ? NaN : sorted.reduce((sum, time) => sum + time, 0) / times.length,
    errors,
  }
}

/** NaN when there is nothing. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

/** The request's bytes; those with a number in them are made anew each time. */
function write({ method, path, headers, body }: LoadRequest, port: number): () => Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const rest = ` HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.join('')}`
  const whole = (address: string, content: string | undefined): Buffer => {
    const length = content === undefined ? '' : `content-length: ${Buffer.byteLength(content)}\r\n`
    return Buffer.from(`${method} ${address}${rest}${length}\r\n${content ?? ''}`)
  }
  if (path.includes('{n}') || body?.includes('{n}') === true) {
    return () => {
      const number = String((counter += 1))
      return whole(path.replace('{n}', number), body?.replace('{n}', number))
    }
  }
  const made = whole(path, body)
  return () => made
}

const lastChunk = Buffer.from('0\r\n\r\n')

/** One connection that is kept open, with one question at a time. */
class Connection {
  /** How long that takes is no part of the time of an answer. */
  readonly opened: Promise<void>
  readonly #socket: net.Socket
  #waiting: PromiseWithResolvers<number> | undefined
  #broken: Error | undefined
  /** The beginning of a head that has not come whole. */
  #head: Buffer | undefined
  #status = 0
  /** Bytes of the body that are still to come, infinite when it comes in chunks; undefined while the head is read. */
  #left: number | undefined

  constructor(port: number) {
    this.#socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setTimeout(patience, () => this.#break(new Error('no answer in time')))
    this.#socket.on('data', (chunk) => this.#read(chunk as Buffer))
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#break(new Error(error.code ?? 'broken')))
    this.#socket.on('close', () => this.#break(new Error('connection closed')))
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve)
      this.#socket.once('close', () => reject(this.#broken!))
    })
  }

  /** The status of the answer, once all of it has come. */
  ask(request: Buffer): Promise<number> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    this.#waiting = Promise.withResolvers()
    this.#socket.write(request)
    return this.#waiting.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #break(error: Error): void {
    this.#broken ??= error
    this.#waiting?.reject(error)
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    if (this.#left === undefined) this.#readHead(chunk)
    else this.#take(chunk)
  }

  #readHead(chunk: Buffer): void {
    const head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) {
      this.#head = head
      return
    }
    this.#head = undefined
    const text = head.toString('latin1', 0, end)
    this.#status = Number(text.slice(9, 12))
    const length = /^content-length: *(\d+)/im.exec(text)?.[1]
    const chunked = length === undefined && /^transfer-encoding: *chunked/im.test(text)
    this.#left = chunked ? Infinity : Number(length ?? 0)
    this.#take(head.subarray(end + 4))
  }

  /** A body in chunks is over when the empty one comes; the parts of an answer that ends so lie in one read. */
  #take(part: Buffer): void {
    this.#left! -= part.length
    const over = this.#left === Infinity ? part.subarray(-5).equals(lastChunk) : this.#left! <= 0
    if (!over) return
    this.#left = undefined
    this.#waiting?.resolve(this.#status)
  }
}
