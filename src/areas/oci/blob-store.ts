import type { RawBuilder } from 'kysely'
import type { Content, Digest, Uploads } from '../../blobs/index.ts'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { nameUnknown, uploadUnknown } from './errors.ts'
import { isPlace, type Place } from './place.ts'

export interface FoundBlob {
  readonly size: number
  /** Nobody has touched it for long: garbage collection may come for it. */
  readonly old: boolean
}

/** Of content that is held to be fresh; half of the shortest grace that garbage collection is let have. */
const fresh = sql`interval '30 minutes'`

export async function findBlob(db: Database, place: Place, digest: Digest): Promise<FoundBlob | undefined> {
  const [found] = await db.rows(sql<FoundBlob>`
    select b.size, l.touched_at < now() - ${fresh} as old
    from container_repositories c
    join container_blob_links l on l.repository_id = c.id and l.digest = ${digest}
    join container_blobs b on b.digest = l.digest
    where ${isPlace(place)}`)
  return found
}

/** Before the client builds on it: from now on it has the whole grace again. */
export async function touchBlob(db: Database, place: Place, digest: Digest): Promise<boolean> {
  return changesOne(
    db,
    sql`
      update container_blob_links l set touched_at = now() from container_repositories c
      where l.repository_id = c.id and ${isPlace(place)} and l.digest = ${digest} returning l.digest`,
  )
}

/** Whoever collects garbage takes no row that somebody holds, so content that is known stays until this ends. */
async function holdBlob(tx: Tx, digest: Digest, size: number): Promise<void> {
  await sql`
    insert into container_blobs (digest, size) values (${digest}, ${size})
    on conflict (digest) do update set touched_at = now()`.execute(tx)
}

async function link(tx: Tx, repositoryId: number, digest: Digest): Promise<void> {
  await sql`
    insert into container_blob_links (repository_id, digest) values (${repositoryId}, ${digest})
    on conflict (repository_id, digest) do update set touched_at = now()`.execute(tx)
}

/** Takes over a blob of another repository; false when it is not there (any more). */
export async function mountBlob(
  db: Database,
  content: Content,
  { from, to, digest }: { from: Place; to: Place; digest: Digest },
): Promise<boolean> {
  const found = await findBlob(db, from, digest)
  if (found === undefined) return false
  return db.transaction(async (tx) => {
    const repository = await repositoryId(tx, to)
    await holdBlob(tx, digest, found.size)
    if (!(await content.has(digest))) return false
    await link(tx, repository, digest)
    return true
  })
}

export interface FinishedUpload {
  readonly place: Place
  readonly id: string
  readonly writer: string
  readonly digest: Digest
  readonly size: number
}

/** Makes a blob of an upload whose digest is known to be right. The upload is over then. */
export async function finishUpload(
  { db, content, uploads }: { db: Database; content: Content; uploads: Uploads },
  { place, id, writer, digest, size }: FinishedUpload,
): Promise<void> {
  const bring = async (): Promise<void> => {
    if (!(await content.has(digest))) await content.adopt(uploads.file(id), digest)
  }
  // Known before it is stored: what is stored and known to nobody would stay for ever.
  await db.transaction((tx) => holdBlob(tx, digest, size))
  await bring()
  await db.transaction(async (tx) => {
    const ended = await sql`
      delete from container_uploads u where u.id = ${id} and u.writer = ${writer} returning u.id`.execute(tx)
    if (ended.rows.length === 0) throw uploadUnknown()
    const repository = await repositoryId(tx, place)
    await holdBlob(tx, digest, size)
    // Garbage collection may have come between; now it waits.
    await bring()
    await link(tx, repository, digest)
  })
  await uploads.remove(id)
}

/** Takes a blob from a repository; its content goes when nobody has it any more. */
export async function unlinkBlob(db: Database, place: Place, digest: Digest): Promise<boolean> {
  return changesOne(
    db,
    sql`
      delete from container_blob_links l using container_repositories c
      where l.repository_id = c.id and ${isPlace(place)} and l.digest = ${digest} returning l.digest`,
  )
}

/** In a transaction, which is run again: who pushes and who collects may come to the same links in other orders. */
function changesOne(db: Database, statement: RawBuilder<unknown>): Promise<boolean> {
  return db.transaction(async (tx) => (await statement.execute(tx)).rows.length > 0)
}

/** Locked against being deleted. */
export async function repositoryId(tx: Tx, place: Place): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select c.id from container_repositories c where ${isPlace(place)} for key share`.execute(tx)
  if (rows[0] === undefined) throw nameUnknown(place.path)
  return rows[0].id
}
