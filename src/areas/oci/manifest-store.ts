import type { RawBuilder } from 'kysely'
import type { Digest } from '../../blobs/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import type { Reference } from './address.ts'
import { repositoryId } from './blob-store.ts'
import { RegistryError } from './errors.ts'
import type { Manifest } from './manifest.ts'
import { isPlace, type Place } from './place.ts'

export interface FoundManifest {
  readonly digest: string
  readonly media_type: string
  readonly size: number
  /** Only where it was asked for. */
  readonly payload: Buffer | null
}

/** One statement. */
export async function findManifest(
  db: Database,
  place: Place,
  reference: Reference,
  { payload }: { payload: boolean },
): Promise<FoundManifest | undefined> {
  const named: RawBuilder<unknown> =
    'tag' in reference
      ? sql`
          join container_tags t on t.repository_id = c.id and t.name = ${reference.tag}
          join container_manifests m on m.id = t.manifest_id`
      : sql`join container_manifests m on m.repository_id = c.id and m.digest = ${reference.digest}`
  const [found] = await db.rows(sql<FoundManifest>`
    select m.digest, m.media_type, m.size, ${payload ? sql`m.payload` : sql`null::bytea as payload`}
    from container_repositories c ${named} where ${isPlace(place)}`)
  return found
}

export interface NewManifest {
  readonly manifest: Manifest
  readonly digest: Digest
  readonly payload: Buffer
  readonly tag: string | undefined
}

/** Stores a manifest, all parts of which must be there, and gives it its tag. */
export async function putManifest(db: Database, place: Place, made: NewManifest): Promise<void> {
  const { manifest, digest, payload, tag } = made
  await db.transaction(async (tx) => {
    const repository = await repositoryId(tx, place)
    const sizes = await touchBlobs(tx, repository, [...manifest.blobs, ...manifest.children])
    const images = await touchManifests(tx, repository, manifest.children)
    const missing = [
      ...manifest.blobs.filter((one) => !sizes.has(one)),
      // Caches of builds list blobs in an index.
      ...manifest.children.filter((one) => !images.has(one) && !sizes.has(one)),
    ]
    if (missing.length > 0) {
      throw new RegistryError(
        400,
        'MANIFEST_BLOB_UNKNOWN',
        'manifest references a manifest or blob unknown to registry',
        {
          detail: missing.slice(0, 100).map((one) => ({ digest: one })),
        },
      )
    }
    const parts = [...manifest.layers, ...manifest.children]
    const total = parts.reduce((sum, one) => sum + (images.get(one) ?? sizes.get(one) ?? 0), 0)
    const id = await upsert(tx, repository, { digest, payload, manifest, total })
    await sql`
      insert into container_manifest_references (manifest_id, repository_id, digest, kind)
      select ${id}, ${repository}, r.digest, r.kind
      from unnest(${[...manifest.blobs, ...manifest.children]}::text[],
        ${[...manifest.blobs.map(() => 'blob'), ...manifest.children.map((one) => (images.has(one) ? 'manifest' : 'blob'))]}::text[])
        r (digest, kind)
      on conflict do nothing`.execute(tx)
    if (tag !== undefined) await giveTag(tx, repository, tag, id)
  })
}

/** In an order that all have, so that two who push the same layers do not wait for one another in a circle. */
async function touchBlobs(
  tx: Tx,
  repository: number,
  digests: readonly Digest[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ digest: string; size: number }>`
    with wanted as (
      select l.digest from container_blob_links l
      where l.repository_id = ${repository} and l.digest = any (${[...digests]}::text[])
      order by l.digest for no key update),
    touched as (
      update container_blob_links l set touched_at = now() from wanted
      where l.repository_id = ${repository} and l.digest = wanted.digest returning l.digest)
    select b.digest, b.size from touched join container_blobs b on b.digest = touched.digest`.execute(tx)
  return new Map(rows.map(({ digest, size }) => [digest, size]))
}

async function touchManifests(
  tx: Tx,
  repository: number,
  digests: readonly Digest[],
): Promise<Map<string, number>> {
  if (digests.length === 0) return new Map()
  const { rows } = await sql<{ digest: string; total_size: number }>`
    with wanted as (
      select m.id from container_manifests m
      where m.repository_id = ${repository} and m.digest = any (${[...digests]}::text[])
      order by m.id for no key update)
    update container_manifests m set touched_at = now() from wanted
    where m.id = wanted.id returning m.digest, m.total_size`.execute(tx)
  return new Map(rows.map(({ digest, total_size }) => [digest, total_size]))
}

async function upsert(
  tx: Tx,
  repository: number,
  {
    digest,
    payload,
    manifest,
    total,
  }: { digest: Digest; payload: Buffer; manifest: Manifest; total: number },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into container_manifests (repository_id, digest, media_type, artifact_type, annotations, subject_digest,
      config_digest, payload, size, total_size)
    values (${repository}, ${digest}, ${manifest.mediaType}, ${manifest.artifactType},
      ${manifest.annotations === null ? null : JSON.stringify(manifest.annotations)}::jsonb, ${manifest.subject},
      ${manifest.config}, ${payload}, ${payload.length}, ${total})
    on conflict (repository_id, digest) do update set touched_at = now(), media_type = excluded.media_type
    returning id`.execute(tx)
  return rows[0]!.id
}

/** What loses its tag by that has the whole grace from now on. */
async function giveTag(tx: Tx, repository: number, tag: string, manifest: number): Promise<void> {
  await sql`
    update container_manifests m set touched_at = now() from container_tags t
    where t.repository_id = ${repository} and t.name = ${tag} and m.id = t.manifest_id and m.id <> ${manifest}`.execute(
    tx,
  )
  await sql`
    insert into container_tags as t (repository_id, name, manifest_id) values (${repository}, ${tag}, ${manifest})
    on conflict (repository_id, name) do update set manifest_id = excluded.manifest_id,
      pushed_at = case when t.manifest_id = excluded.manifest_id then t.pushed_at else now() end`.execute(tx)
}

/** Takes the name away; the manifest stays until garbage collection comes. False when there is no such tag. */
export async function deleteTag(db: Database, place: Place, tag: string): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from container_tags t using container_repositories c
      where t.repository_id = c.id and ${isPlace(place)} and t.name = ${tag} returning t.manifest_id)
    update container_manifests m set touched_at = now() from gone where m.id = gone.manifest_id
    returning m.id`.execute(db.writer)
  return rows.length > 0
}

/** The tags that a manifest has. */
export async function tagsOf(db: Database, place: Place, digest: Digest): Promise<string[]> {
  const found = await db.rows(sql<{ name: string }>`
    select t.name from container_repositories c
    join container_manifests m on m.repository_id = c.id and m.digest = ${digest}
    join container_tags t on t.manifest_id = m.id
    where ${isPlace(place)}`)
  return found.map(({ name }) => name)
}

/** With all its tags. False when there is no such manifest. */
export async function deleteManifest(db: Database, place: Place, digest: Digest): Promise<boolean> {
  const { rows } = await sql`
    delete from container_manifests m using container_repositories c
    where m.repository_id = c.id and ${isPlace(place)} and m.digest = ${digest} returning m.id`.execute(
    db.writer,
  )
  return rows.length > 0
}
