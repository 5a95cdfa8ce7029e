import { holdContent, type Blob, type Blobs } from '../../blobs/index.ts'
import { sql, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { Kind } from './relations.ts'

const placeColumn = (kind: Kind) => sql.ref(kind === 'project' ? 'project_id' : 'namespace_id')

/** Begins to write relations, in the place of what was written of them before. */
export async function begin(
  tx: Tx,
  { kind, id }: { readonly kind: Kind; readonly id: number },
  wanted: { readonly relations: readonly string[]; readonly batched: boolean; readonly userId: number },
): Promise<void> {
  await sql`delete from relation_exports where ${placeColumn(kind)} = ${id}`.execute(tx)
  await sql`
    with made as (
      insert into relation_exports (${placeColumn(kind)}, relation, batched, user_id)
      select ${id}::bigint, r.name, ${wanted.batched}, ${wanted.userId}
      from unnest(${[...wanted.relations]}::text[]) with ordinality r (name, at) order by r.at
      returning id
    )
    insert into relation_export_batches (export_id, number) select m.id, 1 from made m order by m.id`.execute(
    tx,
  )
}

export interface Batch {
  readonly id: number
  readonly exportId: number
  readonly number: number
  readonly after: number
  readonly attempts: number
  readonly kind: Kind
  readonly placeId: number
  readonly relation: string
  readonly batched: boolean
  readonly userId: number | null
}

/** The next batch that nobody writes, held for so many seconds; no more than `most` are written at once, on all nodes. */
export async function claim(db: Database, seconds: number, most: number): Promise<Batch | undefined> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('relation_export_batches', 280))`.execute(tx)
    const { rows: found } = await sql<Batch>`
      with next as (
        select b.id from relation_export_batches b
        where (b.state = 'created' or (b.state = 'started' and b.leased_until < now()))
          and (select count(*) from relation_export_batches r
            where r.state = 'started' and r.leased_until >= now()) < ${most}
        order by b.id limit 1
      ), held as (
        update relation_export_batches b set state = 'started', attempts = b.attempts + 1, updated_at = now(),
          leased_until = now() + make_interval(secs => ${seconds}::int)
        from next where b.id = next.id
        returning b.id, b.export_id, b.number, b.after_id, b.attempts
      )
      select h.id, h.export_id as "exportId", h.number, h.after_id as after, h.attempts,
        case when e.project_id is null then 'group' else 'project' end as kind,
        coalesce(e.project_id, e.namespace_id) as "placeId", e.relation, e.batched, e.user_id as "userId"
      from held h join relation_exports e on e.id = h.export_id`.execute(tx)
    return found[0]
  })
}

/** Of these batches those that still are to be written, held for so many seconds more. */
export async function extend(
  db: Writer,
  ids: readonly number[],
  seconds: number,
): Promise<ReadonlySet<number>> {
  const { rows: held } = await sql<{ id: number }>`
    update relation_export_batches set leased_until = now() + make_interval(secs => ${seconds}::int)
    where id = any (${[...ids]}::bigint[]) and state = 'started' returning id`.execute(db)
  return new Set(held.map(({ id }) => id))
}

export async function release(db: Writer, { id, attempts }: Batch): Promise<void> {
  await sql`
    update relation_export_batches set state = 'created', leased_until = null
    where id = ${id} and state = 'started' and attempts = ${attempts}`.execute(db)
}

/** A further batch of the same relation, unless it was made before. */
export async function addNext(db: Writer, { exportId, number }: Batch, after: number): Promise<void> {
  await sql`
    insert into relation_export_batches (export_id, number, after_id)
    select e.id, ${number + 1}, ${after} from relation_exports e where e.id = ${exportId}
    on conflict (export_id, number) do nothing`.execute(db)
}

/** False where the batch is no longer to be written: the export was begun anew, or somebody else has it. */
export async function finish(
  db: Database,
  blobs: Blobs,
  { id, attempts }: Batch,
  { objects, file }: { readonly objects: number; readonly file: Blob },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await holdContent(tx, blobs, 'relation_export_batches', file.digest)
    const { rows: done } = await sql`
      update relation_export_batches set state = 'finished', leased_until = null, objects = ${objects},
        digest = ${file.digest}, size = ${file.size}, updated_at = now()
      where id = ${id} and state = 'started' and attempts = ${attempts} returning id`.execute(tx)
    return done.length > 0
  })
}

export async function fail(db: Writer, { id, attempts }: Batch, error: string): Promise<void> {
  await sql`
    update relation_export_batches set state = 'failed', leased_until = null, error = ${error}, updated_at = now()
    where id = ${id} and state = 'started' and attempts = ${attempts}`.execute(db)
}

export interface BatchStatus {
  readonly state: 'created' | 'started' | 'finished' | 'failed'
  readonly batch_number: number
  readonly objects_count: number
  readonly error: string | null
  readonly updated_at: string
}

export interface StatusRow {
  readonly relation: string
  readonly batched: boolean
  readonly batches: readonly BatchStatus[]
}

export function readStatus(kind: Kind, relation: string | undefined): Read<StatusRow> {
  return rows(sql`
    select e.relation, e.batched, (
      select json_agg(json_build_object('state', b.state, 'batch_number', b.number, 'objects_count', b.objects,
        'error', b.error, 'updated_at', b.updated_at) order by b.number)
      from relation_export_batches b where b.export_id = e.id) as batches
    from relation_exports e
    where e.${placeColumn(kind)} = subject.id ${relation === undefined ? sql`` : sql`and e.relation = ${relation}`}
    order by e.id`)
}

export interface FileRow {
  readonly digest: string
  readonly size: number
}

export function readFile(
  kind: Kind,
  { relation, batched, number }: { relation: string; batched: boolean; number: number },
): Read<FileRow> {
  return rows(sql`
    select b.digest, b.size from relation_exports e join relation_export_batches b on b.export_id = e.id
    where e.${placeColumn(kind)} = subject.id and e.relation = ${relation} and e.batched = ${batched}
      and b.number = ${number} and b.state = 'finished'`)
}

/** Forgets what was written so many hours ago; its files go after it. */
export async function forget(db: Writer, hours: number): Promise<void> {
  await sql`
    delete from relation_exports e where e.created_at < now() - make_interval(hours => ${hours}::int)`.execute(
    db,
  )
}

/** A direct member, and by what another instance may know him. */
export interface MemberRecord {
  readonly username: string
  /** What he shows to everybody. */
  readonly public_email: string | null
  readonly access_level: number
  readonly expires_at: string | null
}

export async function* readMembers(db: Reader, kind: Kind, id: number): AsyncGenerator<MemberRecord> {
  const batch = 500
  for (let last = 0; ;) {
    const { rows: found } = await sql<{ id: number; record: MemberRecord }>`
      select m.id, json_build_object('username', u.username, 'public_email', nullif(u.public_email, ''),
        'access_level', m.access_level, 'expires_at', m.expires_at) as record
      from members m join users u on u.id = m.user_id
      where m.${placeColumn(kind)} = ${id} and m.id > ${last} and m.state = 'active' and u.kind = 'human'
      order by m.id limit ${batch}`.execute(db)
    for (const { record } of found) yield record
    if (found.length < batch) return
    last = found.at(-1)!.id
  }
}
