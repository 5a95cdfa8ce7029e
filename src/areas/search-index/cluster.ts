import { Outbound, type Got } from '../../kernel/outbound/index.ts'
import { outboundRules, type Settings } from '../../settings/index.ts'
import { signed } from './aws.ts'

/** The cluster did not do what it was asked; what was to be done is still to be done. */
export class ClusterFailure extends Error {
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export interface ClusterCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With its query: `/name/_search`. */
  readonly path: string
  /** JSON, or lines of it. */
  readonly body?: string
  readonly type?: 'application/json' | 'application/x-ndjson'
  /** Milliseconds. */
  readonly timeout: number
  /** Further attempts where it fails. */
  readonly retries?: number
  readonly signal?: AbortSignal
}

export interface ClusterAnswer {
  readonly status: number
  readonly body: unknown
}

/** Of an answer; the longest are those of searches, which name what they found, and those of bulk requests. */
const mostBytes = 16 * 1024 * 1024

/** A search cluster, spoken to by the plain REST protocol that its two makers have in common. */
export class Cluster {
  readonly #settings: Pick<Settings, 'values'>
  readonly #outbound: Outbound
  #turn = 0

  constructor(settings: Pick<Settings, 'values'>) {
    this.#settings = settings
    // It is the administrator's, and stands beside the service as a rule.
    this.#outbound = new Outbound(() => ({ ...outboundRules(settings.values), allowLocal: true }))
  }

  /** The answer, whatever its status. Rejects when none of the addresses gives one that can be read. */
  async call(call: ClusterCall): Promise<ClusterAnswer> {
    const { elasticsearch_url: urls } = this.#settings.values
    const attempts = Math.max(urls.length, 1) * (1 + (call.retries ?? 0))
    this.#turn += 1
    let problem = 'it has no address'
    for (let attempt = 0; attempt < attempts && call.signal?.aborted !== true; attempt += 1) {
      const url = urls[(this.#turn + attempt) % urls.length]
      if (url === undefined) break
      const got = await this.#send(url, call)
      if ('status' in got && got.status < 500 && got.status !== 429) {
        const body = read(got.text)
        // A refusal may come from something that stands before the cluster.
        if (body !== undefined || got.status >= 400) return { status: got.status, body }
        problem = `it answered ${got.status} and no JSON`
      } else problem = 'status' in got ? `it answered ${got.status}` : reasonOf(got)
    }
    throw new ClusterFailure(`the search cluster did not do what it was asked: ${problem}`)
  }

  /** As `call`, of what must succeed. */
  async do(call: ClusterCall): Promise<unknown> {
    const { status, body } = await this.call(call)
    if (status < 300) return body
    throw new ClusterFailure(`the search cluster answered ${status} to ${call.method} ${call.path}`, status)
  }

  async #send(base: string, { method, path, body, type, timeout, signal }: ClusterCall): Promise<Got> {
    const address = new URL(base)
    const inline = { username: decoded(address.username), password: decoded(address.password) }
    address.username = address.password = ''
    const url = address.href.replace(/\/$/, '') + path
    const { values } = this.#settings
    const username = values.elasticsearch_username || inline.username
    const password = (values.elasticsearch_username && values.elasticsearch_password) || inline.password
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
      ...(username !== '' &&
        !values.elasticsearch_aws && {
          authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        }),
    }
    const all = values.elasticsearch_aws ? await signed(values, { method, url, headers, body }) : headers
    if (all === undefined) return { failed: 'http' }
    const options = {
      headers: all,
      maximumBytes: mostBytes,
      timeout,
      ...(signal !== undefined && { signal }),
    }
    if (method === 'GET') return this.#outbound.getText(url, options)
    return this.#outbound.postText(url, body ?? '', { ...options, method, follows: false })
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function read(text: string): unknown {
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

function reasonOf(got: Exclude<Got, { status: number }>): string {
  if ('blocked' in got) return got.blocked
  return { socket: 'it is not reached', timeout: 'it took too long', http: 'it does not speak HTTP' }[
    got.failed
  ]
}
