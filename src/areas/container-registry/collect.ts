import type { RawBuilder } from 'kysely'
import { parseDigest, type Content, type Digest, type Uploads } from '../../blobs/index.ts'
import { sql, type Database } from '../../kernel/db/index.ts'

export interface CollectServices {
  readonly db: Database
  readonly content: Content
  readonly uploads: Uploads
}

/** What garbage collection removed, or would remove. */
export interface Collected {
  readonly manifests: number
  /** Blobs that a repository held for nothing. */
  readonly links: number
  readonly blobs: number
  /** Of those blobs. */
  readonly bytes: number
  readonly uploads: number
}

/** Repositories that are looked through in one statement. */
const repositoryBatch = 200
const blobBatch = 500
/** Removals from the store at once. */
const together = 16

/** `where` narrows the manifests `m` to those of some repositories. */
function kept(cutoff: RawBuilder<unknown>, where: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    kept as (
      select m.id, m.repository_id, m.digest from container_manifests m
      where ${where} and (m.touched_at >= ${cutoff}
        or exists (select from container_tags t where t.manifest_id = m.id))
      union
      select next.id, next.repository_id, next.digest from kept k cross join lateral (
        select m.id, m.repository_id, m.digest from container_manifest_references r
        join container_manifests m on m.repository_id = r.repository_id and m.digest = r.digest
        where r.manifest_id = k.id and r.kind = 'manifest'
        union all
        select m.id, m.repository_id, m.digest from container_manifests m
        where m.repository_id = k.repository_id and m.subject_digest = k.digest) next)`
}

function before(graceHours: number): RawBuilder<unknown> {
  return sql`(now() - make_interval(secs => ${graceHours * 3600}))`
}

/**
 * Removes what nobody can reach: manifests without a tag, that no index lists and whose subject is gone; blobs that no
 * manifest of their repository names; content that no repository holds. It runs beside pushes: whoever comes to need a
 * row touches it, in the transaction in which he needs it, and what was touched within the grace is left alone.
 */
export async function collect(
  { db, content, uploads }: CollectServices,
  graceHours: number,
): Promise<Collected> {
  const cutoff = before(graceHours)
  const inRepositories = await collectRepositories(db, cutoff)
  return {
    ...inRepositories,
    ...(await collectBlobs(db, content, cutoff)),
    uploads: await collectUploads(db, uploads, cutoff),
  }
}

async function collectRepositories(
  db: Database,
  cutoff: RawBuilder<unknown>,
): Promise<{ manifests: number; links: number }> {
  const count = { manifests: 0, links: 0 }
  let last = 0
  for (;;) {
    const repositories = await db.reader
      .selectFrom('container_repositories as c')
      .select('c.id')
      .where('c.id', '>', last)
      .orderBy('c.id')
      .limit(repositoryBatch)
      .execute()
    if (repositories.length === 0) return count
    const ids = repositories.map(({ id }) => id)
    last = ids.at(-1)!
    const manifests = await removeRows(
      db,
      sql`
      with recursive ${kept(cutoff, sql`m.repository_id = any (${ids}::bigint[])`)}
      delete from container_manifests m
      where m.repository_id = any (${ids}::bigint[]) and m.touched_at < ${cutoff}
        and not exists (select from kept k where k.id = m.id)`,
    )
    const links = await removeRows(
      db,
      sql`
      delete from container_blob_links l
      where l.repository_id = any (${ids}::bigint[]) and l.touched_at < ${cutoff} and not exists (
        select from container_manifest_references r where r.repository_id = l.repository_id and r.digest = l.digest)`,
    )
    count.manifests += manifests
    count.links += links
  }
}

/** In a transaction, which is run again when it comes to the same rows as a push, in another order. */
function removeRows(db: Database, statement: RawBuilder<unknown>): Promise<number> {
  return db.transaction(async (tx) => Number((await statement.execute(tx)).numAffectedRows ?? 0))
}

async function collectBlobs(
  db: Database,
  content: Content,
  cutoff: RawBuilder<unknown>,
): Promise<{ blobs: number; bytes: number }> {
  const count = { blobs: 0, bytes: 0 }
  let last = ''
  for (;;) {
    // The rows stay locked until their content is gone; who wants to push the same waits, and brings it again.
    const gone = await db.transaction(async (tx) => {
      const { rows } = await sql<{ digest: string; size: number }>`
        select b.digest, b.size from container_blobs b
        where b.digest > ${last} and b.touched_at < ${cutoff}
          and not exists (select from container_blob_links l where l.digest = b.digest)
        order by b.digest limit ${blobBatch} for update of b skip locked`.execute(tx)
      await removeAll(
        content,
        rows.flatMap(({ digest }) => parseDigest(digest) ?? []),
      )
      await sql`
        delete from container_blobs b where b.digest = any (${rows.map(({ digest }) => digest)}::text[])`.execute(
        tx,
      )
      return rows
    })
    count.blobs += gone.length
    count.bytes += gone.reduce((sum, { size }) => sum + size, 0)
    if (gone.length < blobBatch) return count
    last = gone.at(-1)!.digest
  }
}

async function removeAll(content: Content, digests: readonly Digest[]): Promise<void> {
  const rest = digests.values()
  const work = async (): Promise<void> => {
    for (const digest of rest) await content.remove(digest)
  }
  await Promise.all(Array.from({ length: together }, work))
}

/** Uploads that nobody went on with, and files whose upload is gone. */
async function collectUploads(db: Database, uploads: Uploads, cutoff: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    delete from container_uploads u
    where u.touched_at < ${cutoff} and (u.lease_until is null or u.lease_until < now()) returning u.id`.execute(
    db.writer,
  )
  // Listed before they are looked up: an upload has its row before its file.
  const files = await uploads.list()
  const known = await sql<{ id: string }>`
    select u.id from container_uploads u where u.id = any (${files}::uuid[])`.execute(db.reader)
  const alive = new Set(known.rows.map(({ id }) => id))
  for (const id of files) if (!alive.has(id)) await uploads.remove(id)
  return rows.length
}

/** What `collect` would remove now; changes nothing and locks nothing. */
export async function wouldCollect({ db }: CollectServices, graceHours: number): Promise<Collected> {
  const cutoff = before(graceHours)
  const { rows } = await sql<Collected>`
    with recursive ${kept(cutoff, sql`true`)},
    manifests as (select m.id from container_manifests m where not exists (select from kept k where k.id = m.id)),
    links as (
      select l.repository_id, l.digest from container_blob_links l
      where l.touched_at < ${cutoff} and not exists (
        select from container_manifest_references r
        where r.repository_id = l.repository_id and r.digest = l.digest
          and not exists (select from manifests gone where gone.id = r.manifest_id))),
    blobs as (
      select b.size from container_blobs b
      where b.touched_at < ${cutoff} and not exists (
        select from container_blob_links l where l.digest = b.digest and not exists (
          select from links gone where gone.repository_id = l.repository_id and gone.digest = l.digest)))
    select (select count(*) from manifests) as manifests, (select count(*) from links) as links,
      (select count(*) from blobs) as blobs, (select coalesce(sum(size), 0)::bigint from blobs) as bytes,
      (select count(*) from container_uploads u
        where u.touched_at < ${cutoff} and (u.lease_until is null or u.lease_until < now())) as uploads`.execute(
    db.reader,
  )
  return rows[0]!
}
