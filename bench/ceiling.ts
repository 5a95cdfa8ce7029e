import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { offer } from './child.ts'

/** What is answered to everything from now on. */
export interface Sample {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A bare Fastify that answers one sample: what this machine could do at most. */
let sample = { status: 204, headers: {}, body: Buffer.alloc(0) }
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
    sample = { status, headers, body: Buffer.from(body) }
  },
}

export type CeilingHandlers = typeof handlers
offer(handlers)
