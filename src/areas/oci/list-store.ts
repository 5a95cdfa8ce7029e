import type { Digest } from '../../blobs/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'
import { isPlace, type Place } from './place.ts'

/** Tags in the order of the specification, `limit` at most, after `last`; undefined where there is no such repository. */
export async function listTags(
  db: Database,
  place: Place,
  { limit, last }: { limit: number; last: string | undefined },
): Promise<string[] | undefined> {
  const after =
    last === undefined
      ? sql``
      : sql`and (lower(t.name collate "C"), t.name collate "C")
          > (lower(${last}::text collate "C"), ${last}::text collate "C")`
  const [found] = await db.rows(sql<{ tags: string[] }>`
    select array(
      select t.name from container_tags t where t.repository_id = c.id ${after}
      order by lower(t.name collate "C"), t.name collate "C" limit ${limit}) as tags
    from container_repositories c where ${isPlace(place)}`)
  return found?.tags
}

export interface Referrer {
  readonly mediaType: string
  readonly size: number
  readonly digest: string
  readonly artifactType?: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** Manifests of the repository that name this one as their subject, by digest. */
export async function listReferrers(
  db: Database,
  place: Place,
  digest: Digest,
  {
    limit,
    last,
    artifactType,
  }: { limit: number; last: string | undefined; artifactType: string | undefined },
): Promise<Referrer[]> {
  const rows = await db.rows(sql<Record<string, unknown>>`
    select m.media_type, m.size, m.digest, m.artifact_type, m.annotations
    from container_repositories c join container_manifests m on m.repository_id = c.id
    where ${isPlace(place)} and m.subject_digest = ${digest}
      ${last === undefined ? sql`` : sql`and m.digest > ${last}`}
      ${artifactType === undefined ? sql`` : sql`and m.artifact_type = ${artifactType}`}
    order by m.digest limit ${limit}`)
  return rows.map((row) => ({
    mediaType: row['media_type'] as string,
    size: row['size'] as number,
    digest: row['digest'] as string,
    ...(row['artifact_type'] !== null && { artifactType: row['artifact_type'] as string }),
    ...(row['annotations'] !== null && { annotations: row['annotations'] as Record<string, string> }),
  }))
}

/** The paths of all repositories, for administrators. */
export async function listRepositories(
  db: Database,
  { limit, last }: { limit: number; last: string | undefined },
): Promise<string[]> {
  const rows = await db.rows(sql<{ path: string }>`
    select path from (
      select lower(p.full_path) || case c.name when '' then '' else '/' || c.name end as path
      from container_repositories c join projects p on p.id = c.project_id
      where c.status is distinct from 'delete_scheduled') r
    where ${last === undefined ? sql`true` : sql`path collate "C" > ${last}`}
    order by path collate "C" limit ${limit}`)
  return rows.map(({ path }) => path)
}
