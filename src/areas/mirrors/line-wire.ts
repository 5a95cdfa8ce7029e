import type { Duplex } from 'node:stream'
import { ByteReader, flushPkt, pkt, type RemoteWire } from '../../git/index.ts'
import type { Outbound } from '../../kernel/outbound/index.ts'
import type { Address } from './address.ts'
import { MirrorProblem } from './problem.ts'

type Service = Parameters<RemoteWire['greet']>[0]

/** A connection on which one service of git is spoken from its greeting to its end. */
export interface Line {
  readonly stream: Duplex
  close(): void
}

export class LineWire implements RemoteWire {
  readonly #open: (service: Service) => Promise<Line>
  #line: Line | undefined
  #reader: ByteReader | undefined
  #asked = false

  constructor(open: (service: Service) => Promise<Line>) {
    this.#open = open
  }

  async greet<Taken>(service: Service, take: (answer: ByteReader) => Promise<Taken>): Promise<Taken> {
    this.#line = await this.#open(service)
    this.#line.stream.on('error', () => undefined)
    this.#reader = new ByteReader(this.#line.stream)
    return take(this.#reader)
  }

  async ask<Taken>(
    _service: Service,
    question: AsyncIterable<Buffer>,
    take: (answer: ByteReader) => Promise<Taken>,
  ): Promise<Taken> {
    if (this.#line === undefined || this.#reader === undefined) throw new Error('nobody has greeted yet')
    this.#asked = true
    const taken = take(this.#reader)
    const written = write(question, this.#line.stream)
    taken.catch(() => undefined)
    written.catch(() => undefined)
    // Who refuses early reads no further, and what breaks here is not answered.
    await Promise.race([taken, written])
    return await taken
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Who wants nothing says so.
    if (!this.#asked) this.#line?.stream.end(flushPkt)
    this.#line?.close()
  }
}

async function write(question: AsyncIterable<Buffer>, stream: Duplex): Promise<void> {
  for await (const chunk of question) {
    if (stream.destroyed) return
    if (stream.write(chunk)) continue
    await new Promise<void>((resolve) => {
      const go = (): void => {
        stream.off('drain', go).off('close', go)
        resolve()
      }
      stream.once('drain', go).once('close', go)
    })
  }
}

/** The protocol of `git daemon`, which knows no logins. */
export function daemonWire(outbound: Outbound, address: Address, signal: AbortSignal): LineWire {
  return new LineWire(async (service) => {
    const { host, port, path } = address
    const got = await outbound.connect({ host, port }, signal).catch(() => {
      throw new MirrorProblem(`${host} could not be reached`, { passing: true })
    })
    if ('blocked' in got) throw new MirrorProblem(got.blocked)
    const { socket } = got
    const close = (): void => void socket.destroy()
    signal.addEventListener('abort', close, { once: true })
    socket.write(pkt(`${service} ${path}\0host=${host}:${port}\0`))
    return { stream: socket, close }
  })
}
