import { sql, type Database, type Tx, type Writer } from '../../kernel/db/index.ts'
import type { Kind } from '../relation-exports/index.ts'
import { Superseded, type TransferFault } from './faults.ts'

/** Something to be done for an entity. */
export interface Step {
  readonly id: number
  readonly attempts: number
  readonly stage: number
  readonly relation: string
  readonly number: number
  /** Seconds since it was made. */
  readonly age: number
  readonly entityId: number
  readonly importId: number
  readonly parentId: number | null
  readonly userId: number
  readonly kind: Kind
  readonly sourceFullPath: string
  readonly sourceId: number | null
  readonly destinationSlug: string
  readonly destinationNamespace: string
  readonly migrateProjects: boolean
  readonly migrateMemberships: boolean
  readonly namespaceId: number | null
  readonly projectId: number | null
  readonly sourceUrl: string
  /** Encrypted. */
  readonly accessToken: string
}

const open = sql`('created', 'started')`

/**
 * The next step that nobody does, held for so many seconds; no more than `most` are done at once, on all nodes. A date:
 * the next one is due then.
 */
export async function claim(db: Database, seconds: number, most: number): Promise<Step | Date | undefined> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('bulk_import_steps', 281))`.execute(tx)
    const { rows } = await sql<Step>`
      with next as (
        select s.id from bulk_import_steps s
        where (s.state = 'created' and s.due_at <= now() or s.state = 'started' and s.leased_until < now())
          and not exists (
            select from bulk_import_steps o
            where o.entity_id = s.entity_id and o.stage < s.stage and o.state in ${open})
          and (select count(*) from bulk_import_steps r
            where r.state = 'started' and r.leased_until >= now()) < ${most}
        order by s.id limit 1
      ), held as (
        update bulk_import_steps s set state = 'started', attempts = s.attempts + 1,
          leased_until = now() + make_interval(secs => ${seconds}::int)
        from next where s.id = next.id
        returning s.id, s.attempts, s.stage, s.relation, s.number, s.entity_id, s.created_at
      ), entity as (
        update bulk_import_entities e set status = 'started', updated_at = now()
        from held where e.id = held.entity_id and e.status = 'created'
        returning e.bulk_import_id
      ), import as (
        update bulk_imports i set status = 'started', updated_at = now()
        from entity where i.id = entity.bulk_import_id and i.status = 'created'
      )
      select h.id, h.attempts, h.stage, h.relation, h.number, extract(epoch from now() - h.created_at)::float8 as age,
        e.id as "entityId", e.bulk_import_id as "importId", e.parent_id as "parentId", e.user_id as "userId", e.kind,
        e.source_full_path as "sourceFullPath", e.source_id as "sourceId", e.destination_slug as "destinationSlug",
        e.destination_namespace as "destinationNamespace", e.migrate_projects as "migrateProjects",
        e.migrate_memberships as "migrateMemberships", e.namespace_id as "namespaceId", e.project_id as "projectId",
        i.source_url as "sourceUrl", i.access_token as "accessToken"
      from held h join bulk_import_entities e on e.id = h.entity_id join bulk_imports i on i.id = e.bulk_import_id`.execute(
      tx,
    )
    if (rows[0] !== undefined) return rows[0]
    const { rows: later } = await sql<{ at: Date | null }>`
      select min(s.due_at) as at from bulk_import_steps s where s.state = 'created' and s.due_at > now()`.execute(
      tx,
    )
    return later[0]?.at ?? undefined
  })
}

/** Of these steps those that still are to be done, held for so many seconds more. */
export async function extend(
  db: Writer,
  ids: readonly number[],
  seconds: number,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    update bulk_import_steps set leased_until = now() + make_interval(secs => ${seconds}::int)
    where id = any (${[...ids]}::bigint[]) and state = 'started' returning id`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

const held = ({ id, attempts }: Step) => sql`id = ${id} and attempts = ${attempts} and state = 'started'`

export async function release(db: Writer, step: Step): Promise<void> {
  await sql`update bulk_import_steps set state = 'created', leased_until = null where ${held(step)}`.execute(
    db,
  )
}

/** To be done again in so many seconds; `anew`: as if for the first time. */
export async function postpone(
  db: Writer,
  step: Step,
  seconds: number,
  { anew = false } = {},
): Promise<void> {
  await sql`
    update bulk_import_steps set state = 'created', leased_until = null,
      attempts = ${anew ? sql`0` : sql`attempts`}, due_at = now() + make_interval(secs => ${seconds}::float8)
    where ${held(step)}`.execute(db)
}

export interface Counts {
  readonly fetched: number
  readonly imported: number
}

/** In the transaction that does it. Throws `Superseded` where somebody else does it by now, or nobody any more. */
export async function finish(
  tx: Tx,
  step: Step,
  { fetched, imported }: Counts = { fetched: 0, imported: 0 },
): Promise<void> {
  const { rows } = await sql`
    update bulk_import_steps set state = 'finished', leased_until = null, fetched = ${fetched}, imported = ${imported}
    where ${held(step)} returning id`.execute(tx)
  if (rows.length === 0) throw new Superseded()
  await settle(tx, step)
}

/** The step is given up; a fatal fault ends its entity. */
export async function giveUp(
  tx: Tx,
  step: Step,
  fault: TransferFault,
  status: 'failed' | 'timeout',
): Promise<void> {
  const { rows } = await sql`
    update bulk_import_steps set state = 'failed', leased_until = null where ${held(step)} returning id`.execute(
    tx,
  )
  if (rows.length === 0) throw new Superseded()
  await addFailures(tx, step, [
    {
      relation: step.relation,
      step: fault.phase,
      exception_class: fault.name,
      exception_message: fault.message,
    },
  ])
  if (fault.fatal) {
    await sql`
      update bulk_import_steps set state = 'canceled', leased_until = null
      where entity_id = ${step.entityId} and state in ${open}`.execute(tx)
    await sql`
      update bulk_import_entities set status = ${status}, updated_at = now() where id = ${step.entityId}`.execute(
      tx,
    )
  }
  await settle(tx, step)
}

/** An entity with nothing left to do is at its end, and so is an import with no entity left. */
async function settle(tx: Tx, { entityId, importId }: Step): Promise<void> {
  // One at a time: the last one of two has to see that it is.
  await sql`select from bulk_imports where id = ${importId} for update`.execute(tx)
  await sql`
    update bulk_import_entities e set status = 'finished', updated_at = now()
    where e.id = ${entityId} and e.status = 'started'
      and not exists (select from bulk_import_steps s where s.entity_id = e.id and s.state in ${open})`.execute(
    tx,
  )
  await sql`
    update bulk_imports i set access_token = null, updated_at = now(), status = case
      when exists (select from bulk_import_entities e where e.bulk_import_id = i.id and e.status = 'finished')
        then 'finished'
      when not exists (select from bulk_import_entities e where e.bulk_import_id = i.id and e.status <> 'timeout')
        then 'timeout'
      else 'failed' end
    where i.id = ${importId} and i.status in ('created', 'started') and not exists (
      select from bulk_import_entities e where e.bulk_import_id = i.id and e.status in ('created', 'started'))`.execute(
    tx,
  )
}

export interface Failure {
  readonly relation: string
  readonly step: 'extractor' | 'transformer' | 'loader'
  readonly exception_class: string
  readonly exception_message: string
}

export async function addFailures(
  tx: Tx,
  { entityId }: Pick<Step, 'entityId'>,
  failures: readonly Failure[],
): Promise<void> {
  if (failures.length === 0) return
  await sql`
    with added as (
      insert into bulk_import_failures (entity_id, relation, step, exception_class, exception_message)
      select ${entityId}::bigint, f.relation, f.step, f.exception_class, f.exception_message
      from jsonb_to_recordset(${JSON.stringify(failures)})
        f (relation text, step text, exception_class text, exception_message text)
    )
    update bulk_import_entities set has_failures = true where id = ${entityId}`.execute(tx)
}

export interface NewStep {
  readonly stage: number
  readonly relation: string
  readonly number: number
  readonly objects: number
}

export async function addSteps(tx: Tx, entityId: number, steps: readonly NewStep[]): Promise<void> {
  await sql`
    insert into bulk_import_steps (entity_id, stage, relation, number, source_objects)
    select ${entityId}::bigint, s.stage, s.relation, s.number, s.objects
    from jsonb_to_recordset(${JSON.stringify(steps)}) s (stage integer, relation text, number integer, objects integer)
    order by s.stage, s.relation, s.number`.execute(tx)
}

export async function setSource(tx: Tx, entityId: number, sourceId: number): Promise<void> {
  await sql`update bulk_import_entities set source_id = ${sourceId} where id = ${entityId}`.execute(tx)
}

export async function setDestination(
  tx: Tx,
  entityId: number,
  made: { readonly namespaceId: number } | { readonly projectId: number },
): Promise<void> {
  await sql`
    update bulk_import_entities set namespace_id = ${'namespaceId' in made ? made.namespaceId : null},
      project_id = ${'projectId' in made ? made.projectId : null} where id = ${entityId}`.execute(tx)
}

/** Id of the group that an entity below another one goes to, or of that path; undefined: there is none. */
export async function findHome(
  db: Writer,
  { parentId, destinationNamespace }: Pick<Step, 'parentId' | 'destinationNamespace'>,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number | null }>`
    select ${
      parentId === null
        ? sql`n.id from namespaces n where lower(n.full_path) = lower(${destinationNamespace}) and n.kind = 'group'`
        : sql`e.namespace_id as id from bulk_import_entities e where e.id = ${parentId}`
    }`.execute(db)
  return rows[0]?.id ?? undefined
}
