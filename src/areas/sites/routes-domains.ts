import { randomBytes } from 'node:crypto'
import { endpoint, instance, project as projectKind } from '../../access/index.ts'
import { Fields, Flag, ListOf, Optional, Text, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound, unprocessable } from '../../kernel/errors/index.ts'
import { enqueue } from '../../tasks/index.ts'
import { verifyDomain, type DomainProofs } from './domain-proofs.ts'
import { checkEncryption, domainOf } from './domain-rules.ts'
import * as store from './domains-store.ts'
import { domain, Domain, ListedDomain } from './entities.ts'
import type { SiteServices } from './index.ts'
import { requireSites } from './routes.ts'

const encryption = {
  certificate: Optional(Text({ description: 'Empty, as the proxy in front of the service keeps them' })),
  key: Optional(Text({ description: 'Empty' })),
  auto_ssl_enabled: Optional(Flag({ description: 'Only `false`' })),
}

export function domainEndpoints(services: SiteServices, proofs: DomainProofs): Endpoint[] {
  const { db, sites, externalUrl, images } = services
  const path = '/projects/:id/pages/domains'
  const name = { domain: Text({ blank: false }) }
  const one = {
    on: projectKind,
    path: `${path}/:domain`,
    refuses: { 404: 'The service has no sites, or the project has no such domain' },
    read: ({ params }: { readonly params: { readonly domain: string } }) => store.ofName(params.domain),
  } as const
  const only = (rows: readonly store.DomainRow[]): store.DomainRow => {
    if (rows[0] === undefined) throw notFound('PagesDomain')
    return rows[0]
  }

  return [
    endpoint({
      method: 'GET',
      path: '/pages/domains',
      summary: 'List the domains of the sites of all projects',
      on: instance,
      may: 'admin_instance',
      paged: true,
      params: Fields({ domain: Optional(Text({ description: 'Only this one' })) }),
      answers: ListOf(ListedDomain),
      refuses: { 404: 'The service has no sites, or there is no such domain' },
      read: ({ params, page }) => store.listOfAll(params.domain, page),
      async handle({ rows, params }) {
        requireSites(services)
        if (params.domain !== undefined) only(rows)
        return rows.map((row) => ({ ...domain(sites, row), project_id: row.project_id }))
      },
    }),
    endpoint({
      method: 'GET',
      path,
      summary: 'List the domains of the site of a project',
      on: projectKind,
      may: 'admin_site',
      paged: true,
      answers: ListOf(Domain),
      refuses: { 404: 'The service has no sites, or the project has none' },
      read: ({ page }) => store.listOfProject(page),
      async handle({ project, rows }) {
        requireSites(services, project)
        return rows.map((row) => domain(sites, row))
      },
    }),
    endpoint({
      ...one,
      method: 'GET',
      summary: 'Get a domain of the site of a project',
      may: 'admin_site',
      params: Fields(name),
      answers: Domain,
      async handle({ project, rows }) {
        requireSites(services, project)
        return domain(sites, only(rows))
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: 'Give the site of a project a domain of its own',
      description:
        'It is served there once a TXT record of the domain, or of `_gitlab-pages-verification-code` below it, has the `verification_code`; that is looked for now and then for a week, and by `verify`.',
      on: projectKind,
      may: 'change_site',
      params: Fields({ ...name, ...encryption }),
      answers: Domain,
      refuses: { 400: 'The domain is none, or has been taken', 404: 'The service has no sites' },
      async handle({ project, params }) {
        requireSites(services, project)
        checkEncryption(params)
        const own = [new URL(externalUrl()).hostname, images.host().replace(/:\d+$/, '')]
        const wanted = domainOf(params.domain, { sites: sites.host!, own })
        const code = randomBytes(16).toString('hex')
        const row = await db.transaction(async (tx) => {
          const made = await store.create(tx, { projectId: project.id, domain: wanted, code })
          await enqueue(tx, verifyDomain, { domain: made.id })
          return made
        })
        return domain(sites, row)
      },
    }),
    endpoint({
      ...one,
      method: 'PUT',
      summary: 'Take the certificate of a domain away',
      may: 'change_site',
      params: Fields({ ...name, ...encryption }),
      answers: Domain,
      async handle({ project, rows, params }) {
        requireSites(services, project)
        const row = only(rows)
        checkEncryption(params)
        return domain(sites, row)
      },
    }),
    endpoint({
      ...one,
      method: 'PUT',
      path: `${path}/:domain/verify`,
      summary: 'Look whether a domain is of the project',
      may: 'change_site',
      params: Fields(name),
      answers: Domain,
      refuses: { ...one.refuses, 422: 'None of its records has the code' },
      async handle({ project, rows }) {
        requireSites(services, project)
        const row = await proofs.verify(only(rows).id)
        if (row === undefined) throw notFound('PagesDomain')
        if (!row.verified) throw unprocessable(`Couldn't verify ${row.domain}`)
        return domain(sites, row)
      },
    }),
    endpoint({
      ...one,
      method: 'DELETE',
      summary: 'Take a domain from the site of a project',
      may: 'change_site',
      params: Fields(name),
      answers: null,
      async handle({ project, rows }) {
        requireSites(services, project)
        await store.remove(db, only(rows).id)
      },
    }),
  ]
}
