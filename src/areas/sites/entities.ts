import type { ProjectSubject } from '../../access/index.ts'
import { Fields, Flag, ListOf, DateTime, Nullable, Text, type Static } from '../../kernel/endpoint/index.ts'
import type { SiteAddresses } from './addresses.ts'
import type { DeploymentRow } from './deployments-store.ts'

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
