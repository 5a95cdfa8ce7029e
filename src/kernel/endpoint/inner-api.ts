import type { FastifyInstance } from 'fastify'
import type { Method, RequestFacts } from './endpoint.ts'
import { apiPrefix } from './server.ts'

export interface InnerReply {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers of every shape
  readonly body: any
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
  async call(
    caller: Pick<RequestFacts, 'headers' | 'ip'>,
    method: Method,
    path: string,
    body?: object,
  ): Promise<InnerReply> {
    const own = Object.fromEntries(
      credentials.flatMap((name) => {
        const value = caller.headers[name]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const reply = await this.#server!.inject({
      method,
      url: apiPrefix + path,
      headers: own,
      remoteAddress: caller.ip,
      ...(body !== undefined && { payload: body }),
    })
    const json = reply.headers['content-type']?.toString().includes('json') === true
    return { status: reply.statusCode, body: json ? reply.json<unknown>() : undefined }
  }
}
