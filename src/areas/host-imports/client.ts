import type { Outbound } from '../../kernel/outbound/index.ts'
import { HostFault, HostLimit, HostTrouble } from './faults.ts'

/** Milliseconds for an answer. */
const patience = 60_000
/** Bytes of an answer: a hundred of the longest texts that hosts take. */
const longestAnswer = 32 * 1024 * 1024
/** Things on one page. */
const mostEntries = 1000
/** Seconds that a host may want to be left alone at one time, and those it is where it does not say. */
const longestPause = 3600
const usualPause = 60

export interface HostAddress {
  /** Of the API, without a slash at the end. */
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
}

interface Answer {
  readonly value: unknown
  readonly headers: Readonly<Record<string, string>>
}

export interface Page {
  readonly entries: readonly unknown[]
  readonly headers: Readonly<Record<string, string>>
}

/** The API of a host, in the name of who gave us credentials for it: they are sent there and nowhere else. */
export class HostClient {
  readonly #outbound: Outbound
  readonly #address: HostAddress
  readonly #signal: AbortSignal

  constructor(outbound: Outbound, address: HostAddress, signal: AbortSignal) {
    this.#outbound = outbound
    this.#address = address
    this.#signal = signal
  }

  /** `place`: a path below the address of the API, or what `within` has let through. */
  async get(place: string): Promise<Answer> {
    const url = place.startsWith('/') ? this.#address.base + place : place
    const got = await this.#outbound.getText(url, {
      headers: this.#address.headers,
      signal: this.#signal,
      timeout: patience,
      maximumBytes: longestAnswer,
    })
    this.#signal.throwIfAborted()
    if ('blocked' in got) throw new HostFault(`The host is blocked: ${got.blocked}`, { fatal: true })
    if ('failed' in got) throw new HostTrouble(`The host could not be asked: ${got.failed}`)
    checkStatus(got.status, got.headers)
    if (Buffer.byteLength(got.text) > longestAnswer) throw new HostFault('The host answers too much.')
    try {
      return { value: JSON.parse(got.text) as unknown, headers: got.headers }
    } catch {
      throw new HostFault('The host does not answer with JSON.')
    }
  }

  /** As `get`; undefined where there is nothing, or nothing that these credentials may see. */
  async find(place: string): Promise<unknown> {
    try {
      return (await this.get(place)).value
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /** As `get`, of a list. */
  async list(place: string): Promise<Page> {
    const { value, headers } = await this.get(place)
    if (!Array.isArray(value) || value.length > mostEntries)
      throw new HostFault('The host answers with no list.')
    return { entries: value as unknown[], headers }
  }

  /** All pages of a list that is never long. */
  async *pages(place: string, most: number): AsyncGenerator {
    let seen = 0
    for (let next = place; next !== '';) {
      const { entries, headers } = await this.list(next)
      for (const entry of entries) {
        seen += 1
        if (seen > most) throw new HostFault(`The host has more than ${most} of them.`)
        yield entry
      }
      next = this.nextOf(headers)
    }
  }

  /** Where a list goes on (RFC 8288); empty: it does not. */
  nextOf(headers: Readonly<Record<string, string>>): string {
    for (const link of (headers['link'] ?? '').split(/,\s*(?=<)/)) {
      const [, url, relation] = /^<([^<>]{1,2000})>\s*;.*\brel="?([a-z]+)"?/.exec(link) ?? []
      if (relation === 'next') return this.within(url!)
    }
    return ''
  }

  /** An address that the host has named; refused where it is not below that of the API. */
  within(address: string): string {
    const { base } = this.#address
    const url = URL.parse(address, `${base}/`)
    if (url === null || url.origin !== new URL(base).origin || url.username !== '' || url.password !== '') {
      throw new HostFault('The host names an address that is not its own.')
    }
    return url.href
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof HostFault && [403, 404, 410, 451].includes(error.status ?? 0)
}

function checkStatus(status: number, headers: Readonly<Record<string, string>>): void {
  if (status === 200) return
  const limited = headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'
  if (status === 429 || (status === 403 && limited)) throw new HostLimit(pauseOf(headers))
  const text = `The host answers with ${status}.`
  throw status >= 500 ? new HostTrouble(text, { status }) : new HostFault(text, { status })
}

/** Seconds; both headers of RFC 9110 and of the hosts, which tell a time. */
function pauseOf(headers: Readonly<Record<string, string>>): number {
  const after = headers['retry-after']
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN)
  const seconds =
    after !== undefined
      ? /^\d{1,9}$/.test(after)
        ? Number(after)
        : (Date.parse(after) - Date.now()) / 1000
      : reset - Date.now() / 1000
  return Math.min(longestPause, Math.max(1, Number.isFinite(seconds) ? seconds : usualPause))
}
