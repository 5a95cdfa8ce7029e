import { escaped, latestOf } from './rules.ts'
import type { VersionRow } from './store.ts'

/** What a client is told of a name; of one version in several projects the newest counts. */
export function metadataOf(rows: readonly VersionRow[], name: string, externalUrl: string) {
  const versions: Record<string, unknown> = {}
  const tags: Record<string, string> = {}
  for (const row of rows) {
    const { version, metadata } = row
    const file = `${externalUrl}/api/v4/projects/${row.project_id}/packages/npm/${escaped(name)}/-/${row.file_name}`
    versions[version] = {
      ...metadata.manifest,
      name,
      version,
      dist: { shasum: row.sha1, integrity: metadata.integrity, tarball: file },
    }
    for (const tag of row.tags) tags[tag] = version
  }
  const latest = tags['latest'] ?? latestOf(Object.keys(versions))
  return { name, 'dist-tags': { ...tags, ...(latest !== undefined && { latest }) }, versions }
}
