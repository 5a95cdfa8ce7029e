import { lookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { Agent, request, type Dispatcher } from 'undici'
import { refusalOf, type OutboundRules } from './address-rules.ts'

export interface GetOptions {
  /** Of the answer; what is longer is cut behind the next byte. */
  readonly maximumBytes: number
  /** Milliseconds for everything together. */
  readonly timeout: number
}

export type Got =
  | { readonly status: number; readonly text: string }
  | { readonly failed: 'socket' | 'timeout' | 'http' }
  | { readonly blocked: string }

const mostRedirects = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const resolve = promisify(lookup)

/** Requests to addresses that users chose. Each hop is checked, and connects to the very address that was checked. */
export class Outbound {
  readonly #rules: () => OutboundRules

  constructor(rules: () => OutboundRules) {
    this.#rules = rules
  }

  /** Never rejects: what goes wrong is the other side's, and part of the answer. */
  async getText(url: string, { maximumBytes, timeout }: GetOptions): Promise<Got> {
    const signal = AbortSignal.timeout(timeout)
    try {
      let next = url
      for (let hop = 0; hop <= mostRedirects; hop += 1) {
        const got = await this.#get(next, maximumBytes, signal)
        if (!('location' in got)) return got
        next = new URL(got.location, next).href
      }
      return { failed: 'http' }
    } catch (error) {
      if (signal.aborted) return { failed: 'timeout' }
      return { failed: isOfProtocol(error) ? 'http' : 'socket' }
    }
  }

  async #get(
    url: string,
    maximumBytes: number,
    signal: AbortSignal,
  ): Promise<Got | { readonly location: string }> {
    const target = URL.parse(url)
    if (target === null || !/^https?:$/.test(target.protocol)) {
      return { blocked: 'Only allowed schemes are http, https' }
    }
    const addresses = await addressesOf(target.hostname)
    if (addresses.length === 0) return { blocked: 'Host cannot be resolved or invalid' }
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    for (const { address } of addresses) {
      const reason = refusalOf({ host: target.hostname, port, address }, this.#rules())
      if (reason !== undefined) return { blocked: reason }
    }
    await using agent = new Closing(addresses)
    const response = await request(target, {
      dispatcher: agent.agent,
      signal,
      headers: { accept: '*/*', 'user-agent': 'Guildhall' },
    })
    const { location } = response.headers
    if (redirects.has(response.statusCode) && typeof location === 'string') return { location }
    return { status: response.statusCode, text: await textOf(response.body, maximumBytes) }
  }
}

/** A pool of one request, that connects to these addresses whatever the host's name means by then. */
class Closing implements AsyncDisposable {
  readonly agent: Agent

  constructor(addresses: readonly LookupAddress[]) {
    const pinned: LookupFunction = (_, options, done) => {
      if (options.all === true) done(null, [...addresses])
      else done(null, addresses[0]!.address, addresses[0]!.family)
    }
    this.agent = new Agent({ connect: { lookup: pinned, timeout: 10_000 }, pipelining: 0 })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.agent.destroy()
  }
}

async function addressesOf(hostname: string): Promise<LookupAddress[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family }]
  return resolve(host, { all: true }).catch(() => [])
}

async function textOf(body: Dispatcher.ResponseData['body'], maximumBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maximumBytes) break
  }
  return Buffer.concat(chunks)
    .subarray(0, maximumBytes + 1)
    .toString('utf8')
}

function isOfProtocol(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(HPE_|UND_ERR_(RES|HEADERS|BODY))/.test(String(error.code))
  )
}
