import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { lineName } from '../namespaces/index.ts'
import type { HostKind } from './hosts.ts'
import type { ImportOptions, SourceFacts } from './step-store.ts'

export interface NewImport {
  readonly projectId: number | null
  readonly userId: number
  readonly kind: HostKind
  readonly address: string | null
  readonly fullName: string
  /** Encrypted. */
  readonly credentials: string
  readonly options: ImportOptions
  readonly source: SourceFacts
  readonly correlationId: string
}

export async function addImport(tx: Tx, wanted: NewImport): Promise<number> {
  const { projectId, userId, kind, address, fullName, credentials, options, source, correlationId } = wanted
  const { rows } = await sql<{ id: number }>`
    insert into host_imports (project_id, user_id, kind, address, full_name, credentials, options, source)
    values (${projectId}, ${userId}, ${kind}, ${address}, ${fullName}, ${credentials},
      ${JSON.stringify(options)}::jsonb, ${JSON.stringify(source)}::jsonb)
    returning id`.execute(tx)
  if (projectId !== null) {
    await sql`
      with told as (
        insert into project_imports (project_id, user_id, correlation_id)
        values (${projectId}, ${userId}, ${correlationId})
      )
      update projects set import_status = 'scheduled', import_type = ${kind} where id = ${projectId}`.execute(
      tx,
    )
  }
  return rows[0]!.id
}

export interface ImportRow {
  readonly id: number
  readonly name: string
  readonly full_path: string
  readonly full_name: string
  readonly import_id: number
  readonly import_source: string
  readonly import_status: string
  readonly import_error: string | null
}

/** What is told of the import of a project from a host. */
export async function findImport(
  db: Reader,
  projectId: number,
  kind: HostKind,
): Promise<ImportRow | undefined> {
  const { rows } = await sql<ImportRow>`
    select p.id, p.name, p.full_path,
      ${lineName('n')} || ' / ' || p.name as full_name,
      i.id as import_id, i.full_name as import_source, p.import_status, x.error as import_error
    from host_imports i join projects p on p.id = i.project_id join namespaces n on n.id = p.namespace_id
      left join project_imports x on x.project_id = p.id
    where i.project_id = ${projectId} and i.kind = ${kind}`.execute(db)
  return rows[0]
}

export interface Home {
  readonly id: number
  readonly kind: 'user' | 'group'
  readonly ownerId: number | null
}

export async function findHome(db: Reader, fullPath: string): Promise<Home | undefined> {
  const { rows } = await sql<Home>`
    select n.id, n.kind, n.owner_id as "ownerId" from namespaces n
    where lower(n.full_path) = lower(${fullPath})`.execute(db)
  return rows[0]
}
