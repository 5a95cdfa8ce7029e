import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'

/** A new export, in the place of the last one. */
export async function beginExport(tx: Tx, groupId: number, userId: number): Promise<void> {
  await sql`
    insert into group_exports as e (namespace_id, user_id) values (${groupId}, ${userId})
    on conflict (namespace_id) do update
      set user_id = excluded.user_id, status = 'queued', digest = null, size = null, created_at = now()`.execute(
    tx,
  )
}

/** Who asked for the export that waits; undefined when none does. */
export async function waitingExport(
  db: Reader,
  groupId: number,
): Promise<{ readonly user_id: number | null } | undefined> {
  const { rows: found } = await sql<{ user_id: number | null }>`
    select e.user_id from group_exports e where e.namespace_id = ${groupId} and e.status = 'queued'`.execute(
    db,
  )
  return found[0]
}

/** `file`: undefined when it failed. */
export async function endExport(
  db: Writer,
  groupId: number,
  file: { readonly digest: string; readonly size: number } | undefined,
): Promise<void> {
  await sql`
    update group_exports set status = ${file === undefined ? 'failed' : 'finished'}, digest = ${file?.digest ?? null},
      size = ${file?.size ?? null}
    where namespace_id = ${groupId}`.execute(db)
}

export interface ExportRow {
  readonly digest: string | null
  readonly size: number | null
}

export function readExport(): Read<ExportRow> {
  return rows(sql`select e.digest, e.size from group_exports e where e.namespace_id = subject.id`)
}

/** Forgets exports of so many hours ago. */
export async function forgetExports(db: Writer, hours: number): Promise<void> {
  await sql`
    delete from group_exports e where e.created_at < now() - make_interval(hours => ${hours}::int)`.execute(
    db,
  )
}

/** Of these files those that are needed. */
export async function needed(db: Reader, digests: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows: found } = await sql<{ digest: string }>`
    select e.digest from group_exports e where e.digest = any (${digests}::text[])
    union select i.digest from group_imports i where i.digest = any (${digests}::text[])`.execute(db)
  return new Set(found.map(({ digest }) => digest))
}

export async function addImport(tx: Tx, groupId: number, userId: number, digest: string): Promise<void> {
  await sql`
    insert into group_imports (namespace_id, user_id, digest) values (${groupId}, ${userId}, ${digest})`.execute(
    tx,
  )
}

export interface ImportRow {
  readonly user_id: number | null
  readonly status: string
  readonly digest: string | null
  readonly error: string | null
  readonly failed: readonly object[]
}

export async function findImport(db: Reader, groupId: number): Promise<ImportRow | undefined> {
  const { rows: found } = await sql<ImportRow>`
    select i.user_id, i.status, i.digest, i.error, i.failed from group_imports i
    where i.namespace_id = ${groupId}`.execute(db)
  return found[0]
}

export function readImport(): Read<ImportRow> {
  return rows(sql`
    select i.user_id, i.status, i.digest, i.error, i.failed from group_imports i where i.namespace_id = subject.id`)
}

export async function startImport(db: Writer, groupId: number): Promise<void> {
  await sql`update group_imports set status = 'started' where namespace_id = ${groupId}`.execute(db)
}

export async function endImport(
  db: Writer,
  groupId: number,
  { error, failed }: { readonly error: string | null; readonly failed: readonly object[] },
): Promise<void> {
  await sql`
    update group_imports set status = ${error === null ? 'finished' : 'failed'}, error = ${error},
      failed = ${JSON.stringify(failed)}::jsonb, digest = null
    where namespace_id = ${groupId}`.execute(db)
}

/** Takes over what the archive says of the group; it is never more open than the one above it. */
export async function describe(
  tx: Tx,
  id: number,
  { description, visibility }: { readonly description: string; readonly visibility: number },
): Promise<void> {
  await sql`
    update namespaces n set description = ${description},
      visibility = least(${visibility}::smallint, (select p.visibility from namespaces p where p.id = n.parent_id))
    where n.id = ${id}`.execute(tx)
}
