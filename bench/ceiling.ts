import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { offer } from './child.ts'

/** What is answered to everything from now on. */
export interface Sample {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * A bare Fastify that answers one sample: what this machine could do at most. JSON it writes anew from its value each
 * time, as who answers what was asked must.
 */
let sample: { status: number; headers: Readonly<Record<string, string>>; body: unknown } = {
  status: 204,
  headers: {},
  body: Buffer.alloc(0),
}
const server = Fastify({ routerOptions: { maxParamLength: 8192 } })
// It reads bodies whatever they are, and looks at none.
server.removeAllContentTypeParsers()
server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null))
server.all('/*', (_request, reply) => {
  void reply.code(sample.status).headers(sample.headers).send(sample.body)
})

const handlers = {
  /** Begins to listen; answers the port. */
  async listen(_: null): Promise<number> {
    await server.listen({ port: 0, host: '127.0.0.1' })
    return (server.server.address() as AddressInfo).port
  },
  async answer({ status, headers, body }: Sample): Promise<void> {
    const bytes = Buffer.from(body)
    const isJson = headers['content-type'] === 'application/json' && bytes.length > 0
    sample = { status, headers, body: isJson ? (JSON.parse(bytes.toString()) as unknown) : bytes }
  },
}

export type CeilingHandlers = typeof handlers
offer(handlers)
