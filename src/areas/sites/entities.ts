import type { ProjectSubject } from '../../access/index.ts'
import {
  DateTime,
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  Text,
  type Static,
} from '../../kernel/endpoint/index.ts'
import type { SiteAddresses } from './addresses.ts'
import type { DeploymentRow } from './deployments-store.ts'
import type { DomainRow } from './domains-store.ts'

export const Site = Fields({
  url: Text(),
  is_unique_domain_enabled: Flag(),
  force_https: Flag(),
  deployments: ListOf(
    Fields({ created_at: DateTime(), url: Text(), path_prefix: Text(), root_directory: Nullable(Text()) }),
  ),
})

export function site(
  sites: SiteAddresses,
  project: ProjectSubject,
  deployments: readonly DeploymentRow[],
): Static<typeof Site> {
  const url = sites.urlOf(project)
  return {
    url,
    is_unique_domain_enabled: sites.isUnique(project),
    force_https: sites.forcesHttps(project),
    deployments: deployments.map(({ created_at, path_prefix, root_directory }) => ({
      created_at,
      url: `${url}/${path_prefix}`,
      path_prefix,
      root_directory,
    })),
  }
}

const domainFields = {
  verified: Flag(),
  verification_code: Text(),
  enabled_until: Nullable(DateTime()),
  auto_ssl_enabled: Flag(),
}

export const Domain = Fields({ domain: Text(), url: Text(), ...domainFields })
export const ListedDomain = Fields({ domain: Text(), url: Text(), project_id: Id(), ...domainFields })

export function domain(sites: SiteAddresses, row: DomainRow): Static<typeof Domain> {
  const { domain: name, verified, verification_code, enabled_until } = row
  return {
    domain: name,
    url: sites.origin(name),
    verified,
    verification_code,
    enabled_until,
    // Certificates are not ours to get.
    auto_ssl_enabled: false,
  }
}
