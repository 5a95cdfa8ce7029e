import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { lineName } from '../namespaces/index.ts'

export type ExportStatus = 'none' | 'queued' | 'started' | 'finished' | 'failed'

export interface ExportRow {
  readonly status: Exclude<ExportStatus, 'none'>
  readonly digest: string | null
  readonly size: number | null
}

export async function findExport(db: Reader, projectId: number): Promise<ExportRow | undefined> {
  const { rows } = await sql<ExportRow>`
    select e.status, e.digest, e.size from project_exports e where e.project_id = ${projectId}`.execute(db)
  return rows[0]
}

interface WantedExport {
  readonly userId: number
  readonly description: string | null
  /** Sealed: where the archive is sent. */
  readonly upload: string | null
}

/** A new export, in the place of the last one, whose file is no longer needed. */
export async function beginExport(
  tx: Tx,
  projectId: number,
  { userId, description, upload }: WantedExport,
): Promise<void> {
  await sql`
    insert into project_exports as e (project_id, user_id, description, upload)
    values (${projectId}, ${userId}, ${description}, ${upload})
    on conflict (project_id) do update set user_id = excluded.user_id, description = excluded.description,
      upload = excluded.upload, status = 'queued', digest = null, size = null, error = null, created_at = now()`.execute(
    tx,
  )
}

type StartedExport = Omit<WantedExport, 'userId'> & { readonly user_id: number | null }

/** Whether there still is an export that waits. */
export async function startExport(db: Writer, projectId: number): Promise<StartedExport | undefined> {
  const { rows } = await sql<StartedExport>`
    update project_exports set status = 'started' where project_id = ${projectId} and status in ('queued', 'started')
    returning user_id, description, upload`.execute(db)
  return rows[0]
}

export async function endExport(
  db: Writer,
  projectId: number,
  end: { readonly digest: string; readonly size: number } | { readonly error: string },
): Promise<void> {
  if ('error' in end) {
    await sql`
      update project_exports set status = 'failed', digest = null, size = null, upload = null, error = ${end.error}
      where project_id = ${projectId}`.execute(db)
  } else {
    await sql`
      update project_exports set status = 'finished', digest = ${end.digest}, size = ${end.size}, upload = null
      where project_id = ${projectId}`.execute(db)
  }
}

/** Forgets exports of so many hours ago. */
export async function forgetExports(db: Writer, hours: number): Promise<void> {
  await sql`
    delete from project_exports e where e.created_at < now() - make_interval(hours => ${hours}::int)`.execute(
    db,
  )
}

/** Of these files those that are needed. */
export async function needed(db: Reader, digests: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ digest: string }>`
    select e.digest from project_exports e where e.digest = any (${digests}::text[])
    union select i.digest from project_imports i where i.digest = any (${digests}::text[])`.execute(db)
  return new Set(rows.map(({ digest }) => digest))
}

export interface ImportRow {
  readonly userId: number | null
  readonly digest: string | null
  readonly url: string | null
  readonly status: string
}

export interface NewImport {
  readonly userId: number
  readonly correlationId: string
  readonly source: { readonly digest: string } | { readonly url: string }
}

export async function addImport(tx: Tx, projectId: number, { userId, correlationId, source }: NewImport) {
  await sql`
    insert into project_imports (project_id, user_id, correlation_id, digest, url)
    values (${projectId}, ${userId}, ${correlationId}, ${'digest' in source ? source.digest : null},
      ${'url' in source ? source.url : null})`.execute(tx)
  await sql`
    update projects set import_status = 'scheduled', import_type = 'gitlab_project' where id = ${projectId}`.execute(
    tx,
  )
}

export async function findImport(db: Reader, projectId: number): Promise<ImportRow | undefined> {
  const { rows } = await sql<ImportRow>`
    select i.user_id as "userId", i.digest, i.url, p.import_status as status
    from project_imports i join projects p on p.id = i.project_id where i.project_id = ${projectId}`.execute(
    db,
  )
  return rows[0]
}

export async function setImportStatus(db: Writer | Tx, projectId: number, status: string): Promise<void> {
  await sql`update projects set import_status = ${status} where id = ${projectId}`.execute(db)
}

export interface ImportEnd {
  readonly error: string | null
  readonly failed: readonly object[]
  readonly stats: object
}

export async function endImport(
  tx: Tx,
  projectId: number,
  { error, failed, stats }: ImportEnd,
): Promise<void> {
  await sql`
    update project_imports set digest = null, url = null, error = ${error}, failed = ${JSON.stringify(failed)}::jsonb,
      stats = ${JSON.stringify(stats)}::jsonb
    where project_id = ${projectId}`.execute(tx)
  await setImportStatus(tx, projectId, error === null ? 'finished' : 'failed')
}

export interface StatusRow {
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly namespace_name: string
  readonly created_at: Date | string
  readonly import_status: string
  readonly import_type: string | null
  readonly import_error: string | null
  readonly correlation_id: string | null
  readonly failed: readonly object[] | null
  readonly stats: object | null
  readonly export_status: ExportStatus
}

/** What the status of an export or import tells. */
export async function readStatus(db: Reader, projectId: number): Promise<StatusRow> {
  const { rows } = await sql<StatusRow>`
    select p.id, p.description, p.name, p.path, n.full_path || '/' || p.path as full_path,
      ${lineName('n')} as namespace_name, p.created_at, p.import_status, p.import_type, i.error as import_error, i.correlation_id, i.failed, i.stats,
      coalesce(e.status, 'none') as export_status
    from projects p join namespaces n on n.id = p.namespace_id
      left join project_imports i on i.project_id = p.id left join project_exports e on e.project_id = p.id
    where p.id = ${projectId}`.execute(db)
  return rows[0]!
}

export async function findNamespace(db: Reader, named: string | number): Promise<number | undefined> {
  const byId = typeof named === 'number' || /^\d{1,15}$/.test(named)
  const { rows } = await sql<{ id: number }>`
    select n.id from namespaces n
    where ${byId ? sql`n.id = ${Number(named)}` : sql`lower(n.full_path) = lower(${named})`}`.execute(db)
  return rows[0]?.id
}

export async function isTaken(
  db: Reader,
  namespaceId: number | null,
  ownerId: number,
  path: string,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from projects p join namespaces n on n.id = p.namespace_id
    where ${namespaceId === null ? sql`n.owner_id = ${ownerId} and n.kind = 'user'` : sql`n.id = ${namespaceId}`}
      and lower(p.path) = lower(${path})`.execute(db)
  return rows.length > 0
}

/** Takes over what the archive says of the project; it is never more open than its place allows. */
export async function describe(
  tx: Tx,
  id: number,
  record: {
    readonly description: string | null
    readonly topics: readonly string[]
    readonly visibility: number
  },
): Promise<void> {
  await sql`
    update projects p set description = ${record.description}, topics = ${[...record.topics]}::text[],
      visibility = least(${record.visibility}::smallint, case when n.kind = 'group' then n.visibility else 20 end)
    from namespaces n where n.id = p.namespace_id and p.id = ${id}`.execute(tx)
}
