import type { RawBuilder } from 'kysely'
import type { Content } from '../../blobs/index.ts'
import { onConstraint, sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { GitRefusal, projectMissing } from '../git-http/index.ts'
import { digestOfOid } from './pointer.ts'

export interface StoredObject {
  readonly oid: string
  readonly size: number
}

/** The project `of` and those that it was made of. */
const origins = (of: number): RawBuilder<unknown> => sql`
  origins as (
    select p.id, p.forked_from_id from projects p where p.id = ${of}
    union
    select p.id, p.forked_from_id from origins o join projects p on p.id = o.forked_from_id)`

/** Whether some of its files may be large: it takes such, and it or what it was made of has any. */
export async function mayHold(db: Reader, projectId: number): Promise<boolean> {
  const { rows } = await sql<{ holds: boolean }>`
    with recursive ${origins(projectId)}
    select coalesce((p.settings ->> 'lfs_enabled')::boolean, true)
      and exists (select from lfs_links l where l.project_id in (select o.id from origins o)) as holds
    from projects p where p.id = ${projectId}`.execute(db)
  return rows[0]?.holds ?? false
}

/** Bytes of all that the project has by itself. */
export async function storedBytes(db: Reader, projectId: number): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select coalesce(sum(o.size), 0)::bigint as size
    from lfs_links l join lfs_objects o on o.oid = l.oid where l.project_id = ${projectId}`.execute(db)
  return rows[0]!.size
}

/**
 * Those of the objects that a project has, by itself, from what it was made of, or from those who have asked to merge
 * into it. `own`: it has them by itself.
 */
export async function findObjects(
  db: Reader,
  projectId: number,
  oids: readonly string[],
): Promise<(StoredObject & { readonly own: boolean })[]> {
  const { rows } = await sql<StoredObject & { own: boolean }>`
    with recursive ${origins(projectId)}
    select o.oid, o.size, bool_or(l.project_id = ${projectId}) as own
    from lfs_objects o join lfs_links l on l.oid = o.oid
    where o.oid = any (${[...oids]}::text[]) and (l.project_id in (select id from origins) or exists (
      select from merge_requests r
      where r.source_project_id = l.project_id and r.source_project_id <> r.project_id and r.project_id = ${projectId}))
    group by o.oid`.execute(db)
  return rows
}

/** From now on the project has them by itself. */
export async function link(db: Database, projectId: number, oids: readonly string[]): Promise<void> {
  if (oids.length === 0) return
  await sql`
    insert into lfs_links (project_id, oid)
    select p.id, o.oid from projects p, lfs_objects o
    where p.id = ${projectId} and o.oid = any (${[...oids]}::text[]) on conflict do nothing`.execute(
    db.writer,
  )
}

/** Content that has come in. */
export async function keep(
  db: Database,
  content: Content,
  projectId: number,
  { oid, size }: StoredObject,
): Promise<void> {
  await db
    .transaction(async (tx) => {
      await lockObject(tx, oid)
      // Removed in this moment, since nobody had it until now.
      if (!(await content.has(digestOfOid(oid)))) throw new GitRefusal(503, 'Please try again.')
      await sql`
        insert into lfs_objects (oid, size) values (${oid}, ${size})
        on conflict (oid) do update set touched_at = now()`.execute(tx)
      await sql`
        insert into lfs_links (project_id, oid) values (${projectId}, ${oid}) on conflict do nothing`.execute(
        tx,
      )
    })
    .catch(onConstraint('lfs_links_project_id_fkey', () => new GitRefusal(404, projectMissing)))
}

/** Hours that content may lie which no project has. */
const grace = 24
const atOnce = 500

/** Removes content that no project has any more. */
export async function removeUnused(db: Database, content: Content): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ oid: string }>`
      select o.oid from lfs_objects o
      where o.touched_at < now() - make_interval(hours => ${grace})
        and not exists (select from lfs_links l where l.oid = o.oid)
      limit ${atOnce}`.execute(db.reader)
    for (const { oid } of rows) {
      await db.transaction(async (tx) => {
        await lockObject(tx, oid)
        const gone = await sql`
          delete from lfs_objects o where o.oid = ${oid} and o.touched_at < now() - make_interval(hours => ${grace})
            and not exists (select from lfs_links l where l.oid = o.oid) returning o.oid`.execute(tx)
        if (gone.rows.length > 0) await content.remove(digestOfOid(oid))
      })
    }
    if (rows.length < atOnce) return
  }
}

/** Whoever refers to content, or removes it, does so alone. */
async function lockObject(tx: Tx, oid: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${oid}, 13))`.execute(tx)
}

export interface LfsFacts {
  /** The project takes large files. */
  readonly enabled: boolean
  readonly has_objects: boolean
  readonly has_locks: boolean
}

export async function factsOf(db: Reader, projectId: number): Promise<LfsFacts> {
  const { rows } = await sql<LfsFacts>`
    select coalesce((p.settings ->> 'lfs_enabled')::boolean, true) as enabled,
      exists (select from lfs_links l where l.project_id = p.id) as has_objects,
      exists (select from lfs_locks k where k.project_id = p.id) as has_locks
    from projects p where p.id = ${projectId}`.execute(db)
  return rows[0] ?? { enabled: false, has_objects: false, has_locks: false }
}
