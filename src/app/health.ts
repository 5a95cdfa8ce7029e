import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Database } from '../kernel/db/index.ts'
import type { Metrics } from './metrics.ts'

export interface HealthOptions {
  readonly db: Database
  readonly metrics: Metrics
  /** Answer to every address; otherwise to this machine only. */
  readonly fromAnywhere: boolean
  /** Whether metrics are shown at all. */
  readonly measured: () => boolean
  readonly isStopping: () => boolean
}

function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.')
}

/** `/-/health` tells that the program answers, `/-/readiness` that it can work, `/-/metrics` how it does. */
export function mountHealth(server: FastifyInstance, options: HealthOptions): void {
  const inside =
    (handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
    async (request: FastifyRequest, reply: FastifyReply) =>
      options.fromAnywhere || isLoopback(request.ip)
        ? handler(request, reply)
        : reply.code(404).header('content-type', 'application/json').send('{"error":"404 Not Found"}')

  server.get('/-/health', async (_request, reply) =>
    reply.header('content-type', 'text/plain').send('Guildhall OK'),
  )
  server.get(
    '/-/liveness',
    inside(async (_request, reply) => sendStatus(reply, 200, { status: 'ok' })),
  )
  server.get<{ Querystring: { all?: string } }>(
    '/-/readiness',
    inside(async (request, reply) => {
      const database = options.isStopping() ? 'failed' : await checkDatabase(options.db)
      const checks = { master_check: [{ status: database }] }
      const { all } = request.query as { all?: string }
      const more = all === undefined ? {} : { db_check: [{ status: database }] }
      return sendStatus(reply, database === 'ok' ? 200 : 503, { status: database, ...checks, ...more })
    }),
  )
  server.get(
    '/-/metrics',
    inside(async (_request, reply) => {
      if (!options.measured()) {
        return reply.code(404).header('content-type', 'application/json').send('{"error":"404 Not Found"}')
      }
      const { registry } = options.metrics
      return reply.header('content-type', registry.contentType).send(await registry.metrics())
    }),
  )
}

async function checkDatabase(db: Database): Promise<'ok' | 'failed'> {
  try {
    await sql`select 1`.execute(db.reader)
    return 'ok'
  } catch {
    return 'failed'
  }
}

function sendStatus(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(JSON.stringify(body))
}
