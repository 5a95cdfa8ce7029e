import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { appliedMigrations, sql, type Database } from '../kernel/db/index.ts'
import type { Metrics } from './metrics.ts'
import { nodeHeader } from './node-id.ts'
import { storageFault } from './storages.ts'

export interface HealthOptions {
  readonly db: Database
  readonly metrics: Metrics
  /** Told with `/-/health`: whether it is the service of these data that answers. */
  readonly nodeId: string
  /** Folders of repositories by the names of their storages. */
  readonly storages: Readonly<Record<string, string>>
  /** Names of the migrations that this program needs. */
  readonly migrations: readonly string[]
  /** Answer to every address; otherwise to this machine only. */
  readonly fromAnywhere: boolean
  /** Whether metrics are shown at all. */
  readonly measured: () => boolean
  readonly isStopping: () => boolean
}

/** What is wrong, or undefined. */
type Check = () => Promise<string | undefined>

/** Shared by all that lies in the database: tasks, sessions, what nodes tell one another. */
const inDatabase = ['db', 'cache', 'queues', 'shared_state', 'sessions'] as const

function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.') || ip.startsWith('::ffff:127.')
}

/**
 * `/-/health` tells that the program answers, `/-/readiness` that it can work (with `all`, of each thing that it needs),
 * `/-/metrics` how it does; `/health_check` is what older monitoring asks.
 */
export function mountHealth(server: FastifyInstance, options: HealthOptions): void {
  const { database, migrations, storages } = checksOf(options)
  const inside =
    <Request extends FastifyRequest>(handler: (request: Request, reply: FastifyReply) => Promise<unknown>) =>
    async (request: Request, reply: FastifyReply) =>
      options.fromAnywhere || isLoopback(request.ip) ? handler(request, reply) : sendUnknown(reply)

  server.get('/-/health', async (_request, reply) =>
    reply.header('content-type', 'text/plain').header(nodeHeader, options.nodeId).send('Guildhall OK'),
  )
  server.get(
    '/-/liveness',
    inside(async (_request, reply) => sendStatus(reply, 200, { status: 'ok' })),
  )
  server.get<{ Querystring: { all?: string } }>(
    '/-/readiness',
    inside(async (request: FastifyRequest<{ Querystring: { all?: string } }>, reply) => {
      const { all } = request.query
      const [data, folders] = await Promise.all([told(database), all === undefined ? [] : storages()])
      const failed = [data, ...folders].some(({ status }) => status === 'failed')
      const parts = Object.fromEntries(inDatabase.map((name) => [`${name}_check`, [data]]))
      return sendStatus(reply, failed ? 503 : 200, {
        status: failed ? 'failed' : 'ok',
        master_check: [{ status: data.status }],
        ...(all !== undefined && { ...parts, repository_check: folders }),
      })
    }),
  )
  const legacy = { '': database, '/database': database, '/cache': database, '/migrations': migrations }
  for (const [path, check] of Object.entries(legacy)) {
    server.get(
      `/health_check${path}`,
      inside(async (_request, reply) => {
        const wrong = await check()
        return reply
          .code(wrong === undefined ? 200 : 500)
          .header('content-type', 'text/plain')
          .send(wrong ?? 'success')
      }),
    )
  }
  server.get(
    '/-/metrics',
    inside(async (_request, reply) => {
      if (!options.measured()) return sendUnknown(reply)
      const { registry } = options.metrics
      return reply.header('content-type', registry.contentType).send(await registry.metrics())
    }),
  )
}

function checksOf({ db, isStopping, ...needs }: HealthOptions): {
  readonly database: Check
  readonly migrations: Check
  readonly storages: () => Promise<Told[]>
} {
  const asked = async (what: () => Promise<string | undefined>): Promise<string | undefined> => {
    if (isStopping()) return 'the service is stopping'
    return what().catch(() => 'the database does not answer')
  }
  return {
    database: () =>
      asked(async () => {
        await sql`select 1`.execute(db.reader)
        return undefined
      }),
    migrations: () =>
      asked(async () => {
        const done = new Set(await appliedMigrations(db.writer))
        const missing = needs.migrations.filter((name) => !done.has(name))
        return missing.length === 0 ? undefined : `not migrated: ${missing.join(', ')}`
      }),
    storages: () =>
      Promise.all(
        Object.entries(needs.storages).map(async ([shard, folder]) => {
          const check: Check = async () => {
            const fault = await storageFault(folder)
            return fault && `the place of repositories ${fault}`
          }
          return { ...(await told(check)), labels: { shard } }
        }),
      ),
  }
}

/** A check as monitoring reads it. */
interface Told {
  readonly status: 'ok' | 'failed'
  readonly message?: string
  readonly labels?: Readonly<Record<string, string>>
}

async function told(check: Check): Promise<Told> {
  const message = await check()
  return message === undefined ? { status: 'ok' } : { status: 'failed', message }
}

function sendStatus(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).header('content-type', 'application/json').send(JSON.stringify(body))
}

function sendUnknown(reply: FastifyReply): FastifyReply {
  return sendStatus(reply, 404, { error: '404 Not Found' })
}
