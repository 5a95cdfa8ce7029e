import { timingSafeEqual } from 'node:crypto'
import { isOpenSite, type ProjectSubject } from '../../access/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Settings } from '../../settings/index.ts'

/** What of a project decides where its site is. */
export type Sited = Pick<ProjectSubject, 'id' | 'path' | 'fullPath' | 'settings' | 'features' | 'visibility'>

/** Whose site a host is for. */
export type SiteHost =
  | { readonly kind: 'unique'; readonly projectId: number }
  | { readonly kind: 'namespace'; readonly root: string }
  | { readonly kind: 'domain'; readonly domain: string }

/**
 * Where sites are. A site has a name of its own below the configured host, which leads to the project's id and cannot
 * be guessed; or it shares that of the topmost group with others. What is shared is one origin to browsers, where the
 * scripts of one site read another with the rights of whoever looks at it: so only sites that are open to all stand there.
 */
export class SiteAddresses {
  readonly #url: URL | undefined
  readonly #cipher: Cipher
  readonly #settings: Pick<Settings, 'values'>

  constructor(
    url: URL | undefined,
    { cipher, settings }: { cipher: Cipher; settings: Pick<Settings, 'values'> },
  ) {
    this.#url = url
    this.#cipher = cipher
    this.#settings = settings
  }

  /** Below which all sites have their names; undefined where none are served. */
  get host(): string | undefined {
    return this.#url?.hostname
  }

  get isSecure(): boolean {
    return this.#url?.protocol === 'https:'
  }

  /** Scheme, host and port of a host that sites are served on. */
  origin(host: string): string {
    const { protocol, port } = this.#url!
    return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
  }

  /** Settled by the first deployment; until then it is as the instance has it. */
  isUnique({ settings }: Pick<Sited, 'settings'>): boolean {
    const own = settings['pages_unique_domain_enabled']
    return typeof own === 'boolean' ? own : this.#settings.values.pages_unique_domain_default_enabled
  }

  /** Where people who come over plain HTTP are sent on from. */
  forcesHttps({ settings }: Pick<Sited, 'settings'>): boolean {
    return this.isSecure && settings['pages_https_only'] !== false
  }

  /** Of a project's site, without a slash at the end. */
  urlOf(project: Sited): string {
    if (this.isUnique(project) || !isOpenSite(project))
      return this.origin(`${this.#uniqueName(project)}.${this.host!}`)
    const [root = '', ...rest] = project.fullPath.toLowerCase().split('/')
    const host = `${root}.${this.host!}`
    return rest.length === 1 && rest[0] === host ? this.origin(host) : [this.origin(host), ...rest].join('/')
  }

  /** As jobs are told it; undefined where no sites are served. */
  addressOf(project: Sited): { domain: string; url: string } | undefined {
    return this.host === undefined ? undefined : { domain: this.host, url: this.urlOf(project) }
  }

  /** Undefined for the host itself, which is nobody's. `own`: the host of the service. */
  siteOf(hostname: string): SiteHost | undefined {
    const host = hostname.toLowerCase()
    if (this.host === undefined || host === this.host) return undefined
    if (!host.endsWith(`.${this.host}`)) return { kind: 'domain', domain: host }
    const name = host.slice(0, -this.host.length - 1)
    const projectId = this.#projectOf(name)
    return projectId === undefined ? { kind: 'namespace', root: name } : { kind: 'unique', projectId }
  }

  /** Begins with the path that the project has now, for people: only the rest counts. */
  #uniqueName({ id, path }: Sited): string {
    const slug = path
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 24)
      .replaceAll(/^-|-$/g, '')
    return `${slug === '' ? 'site' : slug}-${id}-${this.#proof(id)}`
  }

  #projectOf(name: string): number | undefined {
    const [, id, proof] = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?-(\d{1,15})-([0-9a-f]{20})$/.exec(name) ?? []
    if (id === undefined || proof === undefined) return undefined
    return timingSafeEqual(Buffer.from(proof), Buffer.from(this.#proof(Number(id)))) ? Number(id) : undefined
  }

  #proof(id: number): string {
    const parts = this.#cipher.uuid(`site ${id}`).split('-')
    return `${parts[0]}${parts[4]}`
  }
}
