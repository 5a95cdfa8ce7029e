import type { Writable } from 'node:stream'
import { flushPkt, pkt } from './pkt-line.ts'

/** One byte for the band, four for the length, of 65,520. */
const maxChunk = 65_515
const keepAliveEvery = 5_000

/**
 * The answer to a push: the report on band 1 and words for the user on band 2, or the bare report for a client that
 * knows no bands. What can not be written since the client went away is dropped: the push goes on without it.
 */
export class Sideband implements Disposable {
  readonly #output: Writable
  readonly #banded: boolean
  #keepAlive: NodeJS.Timeout | undefined
  readonly #ignore = () => undefined

  constructor(output: Writable, banded: boolean) {
    this.#output = output
    this.#banded = banded
    output.on('error', this.#ignore)
  }

  /** Text for the user's terminal; the client puts `remote: ` before every line. */
  message(text: string | Buffer): Promise<void> {
    return this.#banded ? this.#chunks(2, Buffer.from(text)) : Promise.resolve()
  }

  data(bytes: Buffer): Promise<void> {
    return this.#banded ? this.#chunks(1, bytes) : this.#write(bytes)
  }

  /** Ends the conversation: the client prints this and takes the push for failed. */
  async fatal(text: string): Promise<void> {
    if (this.#banded) await this.#chunks(3, Buffer.from(`${text}\n`))
    else await this.#write(pkt(`ERR ${text}`))
  }

  /** Proxies and clients give up on a connection where nothing moves; resolving the deltas of a large push may last. */
  keepAlive(): void {
    if (!this.#banded || this.#keepAlive !== undefined) return
    this.#keepAlive = setInterval(() => {
      if (!this.#output.writableNeedDrain) void this.#write(pkt(Buffer.from([2])))
    }, keepAliveEvery).unref()
  }

  async end(): Promise<void> {
    this[Symbol.dispose]()
    if (this.#banded) await this.#write(flushPkt)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#keepAlive)
    this.#keepAlive = undefined
  }

  async #chunks(band: number, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += maxChunk) {
      await this.#write(pkt(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + maxChunk)])))
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    const output = this.#output
    if (output.destroyed || output.writableEnded || output.write(bytes)) return
    await new Promise<void>((resolve) => {
      const go = () => {
        output.off('drain', go).off('close', go).off('error', go)
        resolve()
      }
      output.once('drain', go).once('close', go).once('error', go)
    })
  }
}
