import type { FastifyInstance } from 'fastify'
import type { Method, RequestFacts } from './endpoint.ts'
import { apiPrefix } from './server.ts'

export interface InnerReply {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers of every shape
  readonly body: any
  /** What the list that was asked for says of its further pages. */
  readonly hasNextPage: boolean
}

const credentials = [
  'authorization',
  'private-token',
  'job-token',
  'cookie',
  'x-csrf-token',
  'sudo',
  'user-agent',
]

/** What a request shows of its caller; credentials may be among its parameters. */
export type InnerCaller = Pick<RequestFacts, 'headers' | 'ip'> & Partial<Pick<RequestFacts, 'sent'>>

const credentialParams = ['private_token', 'access_token', 'job_token', 'sudo']

/**
 * Calls of the public API that a request makes on behalf of its caller, with his credentials and nothing more: whatever
 * the API checks, records and tells of is checked, recorded and told of here too.
 */
export class InnerApi {
  #server: FastifyInstance | undefined

  attach(server: FastifyInstance): void {
    this.#server = server
  }

  /** `path` below `/api/v4`. */
  async call(caller: InnerCaller, method: Method, path: string, body?: object): Promise<InnerReply> {
    const reply = await this.#server!.inject({
      ...inject(caller, method, path),
      ...(body !== undefined && { payload: body }),
    })
    const json = reply.headers['content-type']?.toString().includes('json') === true
    return {
      status: reply.statusCode,
      body: json ? reply.json<unknown>() : undefined,
      hasNextPage: (reply.headers['x-next-page'] ?? '') !== '',
    }
  }

  /** What a path answers that answers with a text; undefined where it is refused, or longer than `most` bytes. */
  async text(caller: InnerCaller, path: string, most: number): Promise<string | undefined> {
    const reply = await this.#server!.inject({ ...inject(caller, 'GET', path), payloadAsStream: true })
    const stream = reply.stream()
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      // Leaving the loop ends the stream.
      if (size > most) return undefined
      chunks.push(chunk)
    }
    return reply.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined
  }
}

function inject({ headers, ip, sent = {} }: InnerCaller, method: Method, path: string) {
  const shown = (names: readonly string[], of: Readonly<Record<string, unknown>>): [string, string][] =>
    names.flatMap((name) => {
      const value = of[name]
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : []
    })
  const params = new URLSearchParams(shown(credentialParams, sent)).toString()
  const more = params === '' ? '' : `${path.includes('?') ? '&' : '?'}${params}`
  return {
    method,
    url: `${apiPrefix}${path}${more}`,
    headers: Object.fromEntries(shown(credentials, headers)),
    remoteAddress: ip,
  }
}
