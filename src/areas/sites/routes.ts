import { FeatureLevel, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import { endpoint } from '../../access/index.ts'
import { Fields, Flag, Optional, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import * as store from './deployments-store.ts'
import { site, Site } from './entities.ts'
import type { SiteServices } from './index.ts'

/** Answers as if they were not there where no sites are served, or none of the project. */
export function requireSites({ sites }: SiteServices, project?: ProjectSubject): void {
  if (sites.host === undefined || project?.features.pages === FeatureLevel.disabled) throw notFound()
}

export function siteEndpoints(services: SiteServices): Endpoint[] {
  const { db, sites } = services
  const about = { on: projectKind, path: '/projects/:id/pages' } as const
  const refuses = { 404: 'The service has no sites, or the project has none' }
  return [
    endpoint({
      ...about,
      method: 'GET',
      summary: 'Tell where the site of a project is, and what is published there',
      may: 'admin_site',
      answers: Site,
      refuses,
      read: () => store.deployments(),
      async handle({ project, rows }) {
        requireSites(services, project)
        return site(sites, project, rows)
      },
    }),
    endpoint({
      ...about,
      method: 'PATCH',
      summary: 'Change where the site of a project is',
      may: 'manage_site',
      params: Fields({
        pages_unique_domain_enabled: Optional(
          Flag({ description: 'The site has a name of its own; sites that are not open to all always have' }),
        ),
        pages_https_only: Optional(Flag({ description: 'Who comes over plain HTTP is sent on' })),
      }),
      answers: Site,
      refuses,
      read: () => store.deployments(),
      async handle({ project, rows, params }) {
        requireSites(services, project)
        const { pages_unique_domain_enabled, pages_https_only } = params
        const changes = {
          ...(pages_unique_domain_enabled !== undefined && { pages_unique_domain_enabled }),
          ...(pages_https_only !== undefined && { pages_https_only }),
        }
        await store.changeSettings(db, project.id, changes)
        return site(sites, { ...project, settings: { ...project.settings, ...changes } }, rows)
      },
    }),
    endpoint({
      ...about,
      method: 'DELETE',
      summary: 'Take down the site of a project',
      may: 'manage_site',
      answers: null,
      refuses,
      async handle({ project }) {
        requireSites(services)
        await store.removeSite(db, project.id)
      },
    }),
  ]
}
