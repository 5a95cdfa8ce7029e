import type { RawBuilder } from 'kysely'
import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { Kind } from '../relation-exports/index.ts'
import { looking } from './relations.ts'

export const statuses = ['created', 'started', 'finished', 'timeout', 'failed', 'canceled'] as const
export type Status = (typeof statuses)[number]

export interface NewEntity {
  readonly kind: Kind
  readonly source_full_path: string
  readonly destination_slug: string
  readonly destination_namespace: string
  readonly migrate_projects: boolean
  readonly migrate_memberships: boolean
}

export interface NewImport {
  readonly userId: number
  readonly url: string
  /** Encrypted. */
  readonly accessToken: string
  readonly correlationId: string
}

export async function addImport(
  tx: Tx,
  { userId, url, accessToken, correlationId }: NewImport,
): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    insert into bulk_imports (user_id, source_url, access_token, correlation_id)
    values (${userId}, ${url}, ${accessToken}, ${correlationId}) returning id`.execute(tx)
  return made[0]!.id
}

/** Entities, each with its first step; `parent`: of the one that they are below. */
export async function addEntities(
  tx: Tx,
  of: { readonly importId: number; readonly userId: number; readonly entityId: number | null },
  entities: readonly NewEntity[],
): Promise<void> {
  if (entities.length === 0) return
  await sql`
    with given as (
      select g.* from jsonb_to_recordset(${JSON.stringify(entities.map((entity, at) => ({ at, ...entity })))})
        g (at integer, kind text, source_full_path text, destination_slug text, destination_namespace text,
          migrate_projects boolean, migrate_memberships boolean)
    ), made as (
      insert into bulk_import_entities (bulk_import_id, user_id, parent_id, kind, source_full_path, destination_slug,
        destination_namespace, migrate_projects, migrate_memberships)
      select ${of.importId}::bigint, ${of.userId}::bigint, ${of.entityId}::bigint, g.kind, g.source_full_path,
        g.destination_slug, g.destination_namespace, g.migrate_projects, g.migrate_memberships
      from given g order by g.at
      returning id
    )
    insert into bulk_import_steps (entity_id, stage, relation, number)
    select m.id, 0, ${looking}, 1 from made m order by m.id`.execute(tx)
}

export interface ImportRow {
  readonly id: number
  readonly status: Status
  readonly source_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly has_failures: boolean
}

const importColumns = sql`
  i.id, i.status, i.source_url, i.created_at, i.updated_at,
  exists (select from bulk_import_entities e where e.bulk_import_id = i.id and e.has_failures) as has_failures`

export interface Listing {
  readonly status?: string | undefined
  readonly sort: 'asc' | 'desc'
}

const ordered = (column: RawBuilder<unknown>, sort: Listing['sort']) =>
  sort === 'asc' ? sql`${column} asc` : sql`${column} desc`
const having = (column: RawBuilder<unknown>, status: string | undefined) =>
  status === undefined ? sql`` : sql`and ${column} = ${status}`

/** Those of the caller. */
export function listImports({ status, sort }: Listing, input: PageInput): Read<ImportRow> {
  const from = sql`from bulk_imports i where i.user_id = actor.id ${having(sql`i.status`, status)}`
  return page({ columns: importColumns, from, order: ordered(sql`i.id`, sort) }, input)
}

export function oneImport(id: number): Read<ImportRow> {
  return rows(sql`select ${importColumns} from bulk_imports i where i.id = ${id} and i.user_id = actor.id`)
}

export async function findImport(tx: Tx | Writer, id: number): Promise<ImportRow | undefined> {
  const { rows: found } = await sql<ImportRow>`
    select ${importColumns} from bulk_imports i where i.id = ${id}`.execute(tx)
  return found[0]
}

/** Nothing more is done for it; the steps that somebody does end as soon as he sees it. */
export async function cancelImport(tx: Tx, id: number): Promise<void> {
  const { rows: canceled } = await sql`
    update bulk_imports set status = 'canceled', access_token = null, updated_at = now()
    where id = ${id} and status in ('created', 'started') returning id`.execute(tx)
  if (canceled.length === 0) return
  await sql`
    with entity as (
      update bulk_import_entities set status = 'canceled', updated_at = now()
      where bulk_import_id = ${id} and status in ('created', 'started') returning id
    )
    update bulk_import_steps s set state = 'canceled', leased_until = null
    from entity where s.entity_id = entity.id and s.state in ('created', 'started')`.execute(tx)
}

export interface FailureRow {
  readonly relation: string
  readonly step: string
  readonly exception_class: string
  readonly exception_message: string
  readonly correlation_id_value: string
  readonly created_at: string
}

export interface EntityRow {
  readonly id: number
  readonly bulk_import_id: number
  readonly status: Status
  readonly kind: Kind
  readonly source_full_path: string
  readonly destination_slug: string
  readonly destination_namespace: string
  readonly parent_id: number | null
  readonly namespace_id: number | null
  readonly project_id: number | null
  readonly created_at: string
  readonly updated_at: string
  readonly migrate_projects: boolean
  readonly migrate_memberships: boolean
  readonly has_failures: boolean
  readonly failures: readonly FailureRow[]
  readonly stats: Readonly<Record<string, object>>
}

/** Failures that are told with their entity. */
const failuresShown = 20

const entityColumns = sql`
  e.id, e.bulk_import_id, e.status, e.kind, e.source_full_path, e.destination_slug, e.destination_namespace,
  e.parent_id, e.namespace_id, e.project_id, e.created_at, e.updated_at, e.migrate_projects, e.migrate_memberships,
  e.has_failures,
  coalesce((
    select json_agg(json_build_object('relation', f.relation, 'step', f.step, 'exception_class', f.exception_class,
      'exception_message', f.exception_message, 'correlation_id_value', i.correlation_id, 'created_at', f.created_at)
      order by f.id)
    from (select * from bulk_import_failures f where f.entity_id = e.id order by f.id limit ${sql.lit(failuresShown)}) f),
    '[]') as failures,
  coalesce((
    select json_object_agg(s.relation, json_build_object('source', s.source, 'fetched', s.fetched,
      'imported', s.imported))
    from (
      select s.relation, sum(s.source_objects) as source, sum(s.fetched) as fetched, sum(s.imported) as imported
      from bulk_import_steps s where s.entity_id = e.id and s.stage > 1 and s.relation <> 'epic_parents'
      group by s.relation order by s.relation) s), '{}') as stats`

const entitySource = sql`from bulk_import_entities e join bulk_imports i on i.id = e.bulk_import_id`

/** Entities of one import, or of all, of the caller. */
export function listEntities(
  importId: number | undefined,
  { status, sort }: Listing,
  input: PageInput,
): Read<EntityRow> {
  const within = importId === undefined ? sql`` : sql`and e.bulk_import_id = ${importId}`
  const from = sql`${entitySource} where e.user_id = actor.id ${within} ${having(sql`e.status`, status)}`
  return page({ columns: entityColumns, from, order: ordered(sql`e.id`, sort) }, input)
}

const ofCaller = (importId: number, entityId: number) =>
  sql`e.user_id = actor.id and e.bulk_import_id = ${importId} and e.id = ${entityId}`

export function oneEntity(importId: number, entityId: number): Read<EntityRow> {
  return rows(sql`select ${entityColumns} ${entitySource} where ${ofCaller(importId, entityId)}`)
}

export function listFailures(importId: number, entityId: number, input: PageInput): Read<FailureRow> {
  return page(
    {
      columns: sql`f.relation, f.step, f.exception_class, f.exception_message,
        i.correlation_id as correlation_id_value, f.created_at`,
      from: sql`${entitySource} join bulk_import_failures f on f.entity_id = e.id
        where ${ofCaller(importId, entityId)}`,
      order: sql`f.id`,
    },
    input,
  )
}
