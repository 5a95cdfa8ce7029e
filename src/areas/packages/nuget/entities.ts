import { compareVersions } from './versions.ts'
import type { Hits, VersionRow } from './store.ts'

/** `base`: the address of the service index without its last part; `externalUrl`: that of the service. */
export interface About {
  readonly base: string
  readonly externalUrl: string
}

const services = [
  ['SearchQueryService', 'query', ['', '/3.0.0-beta', '/3.0.0-rc']],
  ['RegistrationsBaseUrl', 'metadata', ['', '/3.0.0-beta', '/3.0.0-rc']],
] as const

/** Where a client finds what: the first thing it asks for. Groups take no packages in. */
export function serviceIndex({ base }: About, ofProject: boolean) {
  const found = services.flatMap(([type, path, versions]) =>
    versions.map((version) => ({ '@id': `${base}/${path}`, '@type': `${type}${version}` })),
  )
  const own = [
    { '@id': `${base}/download`, '@type': 'PackageBaseAddress/3.0.0' },
    { '@id': base, '@type': 'PackagePublish/2.0.0' },
  ]
  return { version: '3.0.0', resources: [...found, ...(ofProject ? own : [])] }
}

const leafAddress = ({ base }: About, { name_key, version }: VersionRow): string =>
  `${base}/metadata/${name_key}/${version}.json`

/** One version, as the registration of its package tells of it. */
export function leaf(row: VersionRow, about: About) {
  const { name, name_key, version, metadata } = row
  const { dependencyGroups, ...texts } = metadata
  const at = leafAddress(about, row)
  const content = `${about.externalUrl}/api/v4/projects/${row.project_id}/packages/nuget/download/${name_key}/${version}/${name_key}.${version}.nupkg`
  return {
    '@id': at,
    packageContent: content,
    catalogEntry: {
      '@id': at,
      ...texts,
      id: name,
      version,
      authors: texts['authors'] ?? '',
      tags: texts['tags'] ?? '',
      listed: true,
      published: new Date(row.created_at).toISOString(),
      packageContent: content,
      dependencyGroups: dependencyGroups.map(({ targetFramework, dependencies }, index) => ({
        '@id': `${at}#dependencygroup/${index}`,
        '@type': 'PackageDependencyGroup',
        ...(targetFramework !== '' && { targetFramework }),
        dependencies: dependencies.map(({ id, range }) => ({
          '@id': `${at}#dependencygroup/${index}/${id.toLowerCase()}`,
          '@type': 'PackageDependency',
          id,
          range,
        })),
      })),
    },
  }
}

/** Of several projects that have a version the newest counts. */
function inOrder(rows: readonly VersionRow[]): VersionRow[] {
  const byVersion = new Map(rows.map((row) => [row.version, row]))
  return [...byVersion.values()].sort((a, b) => compareVersions(a.version, b.version))
}

/** All versions of a package on one page. */
export function registration(rows: readonly VersionRow[], about: About) {
  const sorted = inOrder(rows)
  const page = {
    '@id': `${about.base}/metadata/${sorted[0]!.name_key}/index.json`,
    lower: sorted[0]!.version,
    upper: sorted.at(-1)!.version,
    count: sorted.length,
    items: sorted.map((row) => leaf(row, about)),
  }
  return { count: 1, items: [page] }
}

export const versionList = (rows: readonly VersionRow[]) => ({
  versions: inOrder(rows).map(({ version }) => version),
})

export function searchResult({ total, versions }: Hits, about: About) {
  const packages = [...Map.groupBy(versions, ({ name_key }) => name_key).values()]
  return {
    totalHits: total,
    data: packages.map((rows) => {
      const sorted = inOrder(rows)
      const { dependencyGroups: _, ...texts } = sorted.at(-1)!.metadata
      return {
        '@type': 'Package',
        ...texts,
        id: sorted.at(-1)!.name,
        version: sorted.at(-1)!.version,
        authors: texts['authors'] ?? '',
        tags: texts['tags'] ?? '',
        title: texts['title'] ?? sorted.at(-1)!.name,
        totalDownloads: 0,
        verified: true,
        versions: sorted.map((row) => ({
          '@id': leafAddress(about, row),
          version: row.version,
          downloads: 0,
        })),
      }
    }),
  }
}
