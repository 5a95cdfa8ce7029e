import { lookup, type LookupAddress } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { Agent, request, type Dispatcher } from 'undici'
import { refusalOf, type OutboundRules } from './address-rules.ts'

export interface GetOptions {
  /** Of the answer; what is longer is cut behind the next byte. */
  readonly maximumBytes: number
  /** Milliseconds for everything together. */
  readonly timeout: number
  /** Credentials among them go to the host of the address alone, wherever that sends us on to. */
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface PostOptions extends GetOptions {
  readonly headers: Readonly<Record<string, string>>
  /** Whether the certificate of the other side must be good. */
  readonly verified?: boolean
  /** By which we show who we are. */
  readonly identity?: ClientIdentity
  /** Whether it is sent on where the other side sends it; left out: yes. Without, that answer is the answer. */
  readonly follows?: boolean
  /** Left out: `POST`. */
  readonly method?: 'POST' | 'PUT' | 'DELETE'
}

/** A certificate of our own with its key, both in PEM. */
export interface ClientIdentity {
  readonly cert: string
  readonly key: string
  readonly passphrase?: string
}

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly verified?: boolean
  readonly identity?: ClientIdentity | undefined
  readonly follows?: boolean
  readonly signal?: AbortSignal
}

export type Got =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | { readonly failed: 'socket' | 'timeout' | 'http' }
  | { readonly blocked: string }

/** A request that is made once, and led nowhere else. */
export interface Exchange {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Readable
  /** Ends it; there is no other limit of time. */
  readonly signal: AbortSignal
}

/** Where something is reached by a protocol of its own. */
export interface HostAndPort {
  /** A name or an address, an IPv6 one between brackets or without. */
  readonly host: string
  readonly port: number
}

export type Failed = Extract<Got, { failed: string }> | Extract<Got, { blocked: string }>

/** An answer as it comes. */
export interface Incoming {
  readonly status: number
  /** Bytes, where the other side tells. */
  readonly length: number | undefined
  readonly body: Readable
}

/** Where a request would go. */
interface Checked {
  readonly target: URL
  readonly addresses: readonly LookupAddress[]
}

const mostRedirects = 5
/** Milliseconds. */
const connectTimeout = 10_000
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const resolve = promisify(lookup)

/** Requests to addresses that users chose. Each hop is checked, and connects to the very address that was checked. */
export class Outbound {
  readonly #rules: () => OutboundRules

  constructor(rules: () => OutboundRules) {
    this.#rules = rules
  }

  /** Never rejects: what goes wrong is the other side's, and part of the answer. */
  getText(url: string, options: GetOptions): Promise<Got> {
    return this.#text(url, { method: 'GET', ...passedOn(options) }, options)
  }

  /** As `getText`, of the answer to what is posted. */
  postJson(url: string, value: unknown, options: PostOptions): Promise<Got> {
    return this.postText(url, JSON.stringify(value), options)
  }

  /** As `postJson`, of a body that is JSON already. */
  postText(
    url: string,
    body: string,
    { headers, verified = true, identity, follows = true, method = 'POST', ...options }: PostOptions,
  ): Promise<Got> {
    const named = { 'content-type': 'application/json', ...headers }
    const sent = { method, body, verified, identity, follows, headers: named, ...passedOn(options) }
    return this.#text(url, sent, options)
  }

  /** As `postText`, of the fields of a form. */
  postForm(url: string, fields: Readonly<Record<string, string>>, options: PostOptions): Promise<Got> {
    const headers = { ...options.headers, 'content-type': 'application/x-www-form-urlencoded' }
    return this.postText(url, new URLSearchParams(fields).toString(), { ...options, headers })
  }

  #text(url: string, sent: Sent, { maximumBytes, timeout }: GetOptions): Promise<Got> {
    return this.#follow(url, sent, timeout, async (response) => {
      const headers = Object.fromEntries(
        Object.entries(response.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
      )
      return { status: response.statusCode, headers, text: await textOf(response.body, maximumBytes) }
    })
  }

  /** Why nothing may be sent to this address as things are now, or undefined. */
  async refusal(url: string): Promise<string | undefined> {
    const checked = await this.#check(url)
    return 'blocked' in checked ? checked.blocked : undefined
  }

  /**
   * For connections of another protocol to the host and port of this address: they use `lookup`, or the host's own
   * name where that is undefined.
   */
  async approach(
    url: string,
  ): Promise<{ readonly lookup: LookupFunction | undefined } | { readonly blocked: string }> {
    const checked = await this.#check(url)
    if ('blocked' in checked) return checked
    return { lookup: this.#rules().pinned ? pinnedTo(checked.addresses) : undefined }
  }

  /**
   * For what is too large for memory: `take` reads the body, or leaves it, and has as long as all the rest. What it
   * throws is thrown; a body that breaks off makes its stream fail.
   */
  async stream<Taken extends object>(
    url: string,
    { timeout, ...options }: Omit<GetOptions, 'maximumBytes'>,
    take: (answer: Incoming) => Promise<Taken>,
  ): Promise<Taken | Failed> {
    let own: { readonly error: unknown } | undefined
    const got = await this.#follow(
      url,
      { method: 'GET', ...passedOn(options) },
      timeout,
      async ({ statusCode, headers, body }) => {
        const length = Number(headers['content-length'] ?? Number.NaN)
        const told = Number.isSafeInteger(length) ? length : undefined
        try {
          return await take({ status: statusCode, length: told, body })
        } catch (error) {
          own = { error }
          throw error
        }
      },
    )
    if (own !== undefined) throw own.error
    return got
  }

  /**
   * One request whose answer may be led nowhere else: a redirection is an answer like any other. `take` has the body as
   * long as it runs; what it throws is thrown, and what breaks the connection too.
   */
  async exchange<Taken extends object>(
    url: string,
    { method, headers, body, signal }: Exchange,
    take: (answer: Incoming) => Promise<Taken>,
  ): Promise<Taken | { readonly blocked: string }> {
    const checked = await this.#check(url)
    if ('blocked' in checked) return checked
    await using agent = this.#agent(checked)
    const response = await request(checked.target, {
      dispatcher: agent.agent,
      signal,
      method,
      headers: { 'user-agent': 'Guildhall', ...headers },
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(body !== undefined && { body }),
    })
    // Until it is read its failure is nobody's.
    response.body.on('error', () => undefined)
    return await take({ status: response.statusCode, length: undefined, body: response.body })
  }

  /** A connection for a protocol that is not HTTP. Rejects when there is none. */
  async connect(
    place: HostAndPort,
    signal: AbortSignal,
  ): Promise<{ readonly socket: Socket } | { readonly blocked: string }> {
    const checked = await this.#checkHost(place)
    if ('blocked' in checked) return checked
    const { pinned } = this.#rules()
    const lookup = pinned ? { lookup: pinnedTo(checked.addresses) } : {}
    const socket = connect({ host: bare(place.host), port: place.port, ...lookup, timeout: connectTimeout })
    try {
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => reject(new Error('it took too long'))
        signal.addEventListener('abort', stop, { once: true })
        socket.once('timeout', stop).once('error', reject)
        socket.once('connect', () => {
          signal.removeEventListener('abort', stop)
          resolve()
        })
      })
    } catch (error) {
      socket.on('error', () => undefined).destroy()
      throw error
    }
    socket.setTimeout(0).setKeepAlive(true, 30_000)
    return { socket }
  }

  /**
   * For a client that makes its own connections to such a place: it uses these addresses, or the host's own name where
   * they are undefined.
   */
  async addressesFor(
    place: HostAndPort,
  ): Promise<{ readonly addresses: readonly string[] | undefined } | { readonly blocked: string }> {
    const checked = await this.#checkHost(place)
    if ('blocked' in checked) return checked
    return { addresses: this.#rules().pinned ? checked.addresses.map(({ address }) => address) : undefined }
  }

  /** As `refusal`, of what is no web address. */
  async refusalOfHost(place: HostAndPort): Promise<string | undefined> {
    const checked = await this.#checkHost(place)
    return 'blocked' in checked ? checked.blocked : undefined
  }

  async #follow<Taken extends object>(
    url: string,
    sent: Sent,
    timeout: number,
    take: (response: Dispatcher.ResponseData) => Promise<Taken>,
  ): Promise<Taken | Failed> {
    const inTime = AbortSignal.timeout(timeout)
    const signal = sent.signal === undefined ? inTime : AbortSignal.any([inTime, sent.signal])
    try {
      let next = url
      for (let hop = 0; hop <= mostRedirects; hop += 1) {
        const stays = hop === 0 || new URL(next).origin === new URL(url).origin
        const got = await this.#send(next, stays ? sent : withoutCredentials(sent), signal, take)
        if (!('location' in got)) return got
        next = new URL(got.location, next).href
      }
      return { failed: 'http' }
    } catch (error) {
      if (signal.aborted) return { failed: 'timeout' }
      return { failed: isOfProtocol(error) ? 'http' : 'socket' }
    }
  }

  async #send<Taken extends object>(
    url: string,
    sent: Sent,
    signal: AbortSignal,
    take: (response: Dispatcher.ResponseData) => Promise<Taken>,
  ): Promise<Taken | Failed | { readonly location: string }> {
    const checked = await this.#check(url)
    if ('blocked' in checked) return checked
    await using agent = this.#agent(checked, sent)
    const response = await request(checked.target, {
      dispatcher: agent.agent,
      signal,
      method: sent.method,
      headers: { accept: '*/*', 'user-agent': 'Guildhall', ...sent.headers },
      ...(sent.body !== undefined && { body: sent.body }),
    })
    const { location } = response.headers
    const sentOn = sent.follows !== false && redirects.has(response.statusCode)
    if (sentOn && typeof location === 'string') return { location }
    // The connection lasts until it has been taken.
    return await take(response)
  }

  async #check(url: string): Promise<Checked | { readonly blocked: string }> {
    const target = URL.parse(url)
    if (target === null || !/^https?:$/.test(target.protocol)) {
      return { blocked: 'Only allowed schemes are http, https' }
    }
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const checked = await this.#checkHost({ host: target.hostname, port })
    return 'blocked' in checked ? checked : { target, ...checked }
  }

  async #checkHost({
    host,
    port,
  }: HostAndPort): Promise<Pick<Checked, 'addresses'> | { readonly blocked: string }> {
    const addresses = await addressesOf(host)
    const rules = this.#rules()
    if (addresses.length === 0 && (rules.pinned || rules.onlyAllowed)) {
      return { blocked: 'Host cannot be resolved or invalid' }
    }
    for (const { address } of addresses) {
      const reason = refusalOf({ host, port, address }, rules)
      if (reason !== undefined) return { blocked: reason }
    }
    return { addresses }
  }

  #agent(
    { addresses }: Checked,
    { verified = true, identity }: Pick<Sent, 'verified' | 'identity'> = {},
  ): Closing {
    return new Closing(this.#rules().pinned ? addresses : undefined, verified, identity)
  }
}

/** A pool of one request; with addresses, it connects to these whatever the host's name means by then. */
class Closing implements AsyncDisposable {
  readonly agent: Agent

  constructor(
    addresses: readonly LookupAddress[] | undefined,
    verified: boolean,
    identity: ClientIdentity | undefined,
  ) {
    const lookup = addresses === undefined ? {} : { lookup: pinnedTo(addresses) }
    const connecting = { ...lookup, ...identity, timeout: connectTimeout, rejectUnauthorized: verified }
    this.agent = new Agent({ connect: connecting, pipelining: 0 })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.agent.destroy()
  }
}

function passedOn({ headers, signal }: Pick<GetOptions, 'headers' | 'signal'>): Partial<Sent> {
  return { ...(headers !== undefined && { headers }), ...(signal !== undefined && { signal }) }
}

function withoutCredentials(sent: Sent): Sent {
  const headers = Object.entries(sent.headers ?? {}).filter(
    ([name]) => !/^(authorization|private-token)$/i.test(name),
  )
  return { ...sent, headers: Object.fromEntries(headers) }
}

function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, done) => {
    if (options.all === true) done(null, [...addresses])
    else done(null, addresses[0]!.address, addresses[0]!.family)
  }
}

/** Without the brackets of an IPv6 address. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

async function addressesOf(hostname: string): Promise<LookupAddress[]> {
  const host = bare(hostname)
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
