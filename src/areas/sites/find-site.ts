import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  anonymous,
  enter,
  entryProblem,
  isShownTo,
  project,
  projectColumns,
  type Actor,
  type Credentials,
  type ProjectSubject,
} from '../../access/index.ts'
import { rows } from '../../kernel/endpoint/index.ts'
import type { SiteHost } from './addresses.ts'
import type { SiteServices } from './index.ts'

/** What lies at an address, and where it would be if the address had its other forms. */
export interface FoundFile {
  readonly path_prefix: string
  /** Of the path of the request what lies inside of the deployment. */
  readonly inside: string
  readonly content: string
  /** Null where the deployment has none of the files that were looked for. */
  readonly path: string | null
  readonly start: number | null
  readonly size: number | null
  readonly digest: string | null
}

export interface FoundSite {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly files: readonly FoundFile[]
}

/** Deeper than projects lie. */
const deepest = 21

const sited = sql`${projectColumns}, false as redirect`
const owner = sql`join namespaces n on n.id = p.namespace_id`

/** The project whose site the host has, in SQL, with what of the path lies in the site. */
function source(services: SiteServices, host: SiteHost, path: string): RawBuilder<unknown> {
  switch (host.kind) {
    case 'unique':
      return sql`select ${sited}, ${path}::text as site_path from projects p ${owner} where p.id = ${host.projectId}`
    case 'domain':
      return sql`
        select ${sited}, ${path}::text as site_path
        from site_domains o join projects p on p.id = o.project_id ${owner}
        where o.domain = ${host.domain}
          and (${!services.settings.values.pages_domain_verification_enabled} or o.enabled_until > now())`
    case 'namespace': {
      const { keys, rests } = candidates(host.root, services.sites.host!, path)
      return sql`
        select ${sited}, c.rest as site_path
        from unnest(${keys}::text[], ${rests}::text[]) c (key, rest)
        join routes r on r.path_key = c.key and not r.redirect
        join projects p on p.id = r.project_id ${owner}
        where exists (select from site_deployments d where d.project_id = p.id)
        order by length(c.key) desc limit 1`
    }
  }
}

/** The paths of projects that an address may mean, each with what is left of it. */
function candidates(root: string, host: string, path: string): { keys: string[]; rests: string[] } {
  const parts = path.split('/')
  const keys = [`${root}/${root}.${host}`]
  const rests = [path]
  for (let count = 1; count <= Math.min(parts.length, deepest); count += 1) {
    keys.push([root, ...parts.slice(0, count)].join('/').toLowerCase())
    rests.push(parts.slice(count).join('/'))
  }
  return { keys, rests }
}

/** The files that an address may mean, and the one that tells that there is none. */
const files = rows<FoundFile>(sql`
  select d.path_prefix, d.digest as content, at.inside, f.path, f.start, f.size, f.digest
  from site_deployments d
  cross join lateral (
    select case when d.path_prefix = '' then subject.site_path
      else substr(subject.site_path, length(d.path_prefix) + 2) end as inside) at
  left join site_files f on f.deployment_id = d.id and f.path = any (
    case when at.inside = '' or right(at.inside, 1) = '/' then array[at.inside || 'index.html', '404.html']
      else array[at.inside, at.inside || '.html', at.inside || '/index.html', '404.html'] end)
  where d.project_id = subject.id and (d.expires_at is null or d.expires_at > now())
    and (d.path_prefix = '' or subject.site_path = d.path_prefix
      or starts_with(subject.site_path, d.path_prefix || '/'))`)

/**
 * The site of a host with who looks at it and the files that the path may mean; one statement. Undefined where there is
 * none, or where it is not shown to this address. What the caller may see of it is still to be asked.
 */
export async function findSite(
  services: SiteServices,
  credentials: Credentials,
  host: SiteHost,
  path: string,
  address: string,
): Promise<FoundSite | undefined> {
  const { db, settings, plan, externalUrl } = services
  const kind: typeof project = {
    ...project,
    find: () => source(services, host, path),
    visible: sql`true`,
  }
  const lookup = { id: undefined, secretDigest: undefined }
  const entered = await enter<ProjectSubject, FoundFile>(db, kind, credentials, lookup, files)
  if (entered.subject === undefined) return undefined
  const known = entered.actor ?? anonymous
  const house = { values: settings.values, externalUrl: externalUrl() }
  const admitted = known.user === null || entryProblem(known.user, house) === undefined
  const actor = admitted ? known : anonymous
  if (!isShownTo(entered.subject, actor, address, { values: settings.values, plan })) return undefined
  // Whoever may not come in has no role.
  const found = admitted ? entered.subject : { ...entered.subject, role: 0, permissions: [] }
  return { actor, project: found, files: entered.loaded.rows }
}
