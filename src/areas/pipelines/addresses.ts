import { FeatureLevel, type ProjectSubject } from '../../access/index.ts'
import { apiVersion, revision } from '../metadata/index.ts'

/** Where jobs reach the service. */
export interface Addresses {
  readonly externalUrl: string
  /** Host and port of the registry of images; undefined where it is off. */
  readonly registry: string | undefined
  /** Where git is served over SSH. */
  readonly ssh: { readonly host: string; readonly port: number }
  /** Of the project; undefined where no sites are served. */
  readonly site: SiteAddress | undefined
}

export interface SiteAddress {
  /** Below which all sites have their names. */
  readonly domain: string
  readonly url: string
}

export interface AddressServices {
  readonly externalUrl: () => string
  readonly sshPlace: () => Addresses['ssh']
  readonly images: { readonly enabled: boolean; readonly host: () => string }
  readonly sites: { readonly addressOf: (project: ProjectSubject) => SiteAddress | undefined }
}

export function addressesFor(
  { externalUrl, sshPlace, images, sites }: AddressServices,
  project: ProjectSubject,
): Addresses {
  const on = images.enabled && project.features.container_registry !== FeatureLevel.disabled
  return {
    externalUrl: externalUrl(),
    registry: on ? images.host() : undefined,
    ssh: sshPlace(),
    site: sites.addressOf(project),
  }
}

const [major = '', minor = '', patch = ''] = apiVersion.split('.')

/** The registry that the images of existing templates come from. */
const templateRegistry = 'registry.gitlab.com'

export function serverVariables({ externalUrl, ssh }: Addresses): Record<string, string> {
  const { protocol, hostname, host, port } = new URL(externalUrl)
  return {
    CI_SERVER_URL: externalUrl,
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port === '' ? (protocol === 'https:' ? '443' : '80') : port,
    CI_SERVER_PROTOCOL: protocol.slice(0, -1),
    CI_SERVER_FQDN: host,
    CI_SERVER_NAME: 'Guildhall',
    CI_SERVER_REVISION: revision,
    CI_SERVER_VERSION: apiVersion,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_SERVER_SHELL_SSH_HOST: ssh.host,
    CI_SERVER_SHELL_SSH_PORT: String(ssh.port),
    CI_API_V4_URL: `${externalUrl}/api/v4`,
    CI_API_GRAPHQL_URL: `${externalUrl}/api/graphql`,
    CI_TEMPLATE_REGISTRY_HOST: templateRegistry,
    GITLAB_FEATURES: '',
  }
}

/**
 * Where the site of a project is published; where none are, it would be below the name of the topmost group, unless the
 * project is named like that address.
 */
export function pagesVariables(
  { externalUrl, site: own }: Addresses,
  fullPath: string,
): Record<string, string> {
  if (own !== undefined) {
    const { domain, url } = own
    return { CI_PAGES_DOMAIN: domain, CI_PAGES_HOSTNAME: new URL(url).hostname, CI_PAGES_URL: url }
  }
  const { protocol, hostname, port } = new URL(externalUrl)
  const domain = `pages.${hostname}`
  const [root = '', ...rest] = fullPath.toLowerCase().split('/')
  const site = `${root}.${domain}`
  const path = rest.length === 1 && rest[0] === site ? '' : `/${rest.join('/')}`
  return {
    CI_PAGES_DOMAIN: domain,
    CI_PAGES_HOSTNAME: site,
    CI_PAGES_URL: `${protocol}//${site}${port === '' ? '' : `:${port}`}${path}`,
  }
}
