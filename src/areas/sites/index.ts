import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { Blobs, removeUnused } from '../../blobs/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { send, type Endpoint } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Events, Schedule, Task } from '../../tasks/index.ts'
import type { StatusServices } from '../commit-statuses/index.ts'
import type { JobEvent } from '../pipelines/index.ts'
import type { SiteAddresses } from './addresses.ts'
import { deploy } from './deploy.ts'
import { publishingJobs, removeExpired, tellsOfSite } from './deployments-store.ts'
import { DomainProofs, verifyDomain } from './domain-proofs.ts'
import { entrance, entrancePath } from './entrance.ts'
import { domainEndpoints } from './routes-domains.ts'
import { siteEndpoints } from './routes.ts'
import { mountSites } from './serve.ts'

export { SiteAddresses } from './addresses.ts'

export interface SiteServices {
  readonly db: Database
  readonly blobs: Blobs
  readonly cipher: Cipher
  readonly events: Events
  readonly log: Logger
  readonly plan: Plan
  readonly settings: Settings
  readonly sites: SiteAddresses
  readonly siteResolvers: readonly string[] | undefined
  readonly images: { readonly host: () => string }
  readonly dataDirectory: string
  readonly externalUrl: () => string
}

/** The database itself puts this one into the queue, when deployments go (migration 0255). */
const removal = 'sites:remove-content'
const tidying = 'sites:tidy'
const verifyingAll = 'sites:verify-domains'
const day = 24 * 3600_000

/** Sites that the jobs of projects publish, on hosts of their own. */
export function sites(services: SiteServices & StatusServices): {
  endpoints: Endpoint[]
  tasks: Task[]
  schedules: Schedule[]
  mount: (server: FastifyInstance) => void
  mountHosts: (server: FastifyInstance) => void
} {
  const { db, events } = services
  const content = new Blobs(path.join(services.dataDirectory, 'sites'))
  const domains = new DomainProofs(services)
  const served = services.sites.host !== undefined
  events.subscribe<JobEvent>(
    'job',
    'sites',
    async ({ payload: { jobs } }) => {
      const ids = jobs.filter(({ status }) => status === 'success').map(({ id }) => id)
      for (const job of await publishingJobs(db.reader, ids)) await deploy({ ...services, content }, job)
    },
    { when: tellsOfSite },
  )
  return {
    endpoints: [...siteEndpoints(services), ...domainEndpoints(services, domains)],
    tasks: [
      {
        name: removal,
        run: (payload) =>
          removeUnused(db, content, 'site_deployments', (payload as { digests: string[] }).digests),
      },
      {
        name: verifyDomain,
        async run(payload) {
          await domains.verify((payload as { domain: number }).domain)
        },
      },
      { name: verifyingAll, run: () => domains.verifyDue() },
      {
        name: tidying,
        async run() {
          await removeExpired(db)
          await content.removeLeftovers(day)
        },
      },
    ],
    schedules: [
      { task: tidying, pattern: '*/10 * * * *' },
      ...(served ? [{ task: verifyingAll, pattern: '*/15 * * * *' }] : []),
    ],
    mount(server) {
      if (!served) return
      server.get<{ Querystring: Record<string, unknown> }>(entrancePath, async (request, reply) =>
        send(reply, await entrance(services, request, request.query)),
      )
    },
    mountHosts: (server) => mountSites(server, { ...services, content }),
  }
}
