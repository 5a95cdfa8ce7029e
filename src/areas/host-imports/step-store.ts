import { sql, type Database, type Tx, type Writer } from '../../kernel/db/index.ts'
import { Superseded, type HostFault } from './faults.ts'
import type { HostKind } from './hosts.ts'

/** Something to be done for an import. */
export interface Step {
  readonly id: number
  readonly attempts: number
  readonly stage: number
  readonly relation: string
  readonly number: number
  readonly cursor: string
  readonly importId: number
  /** Null where snippets are brought. */
  readonly projectId: number | null
  readonly userId: number | null
  readonly kind: HostKind
  /** Null: the host that everybody knows. */
  readonly address: string | null
  readonly fullName: string
  /** Encrypted. */
  readonly credentials: string
  readonly options: ImportOptions
  readonly source: SourceFacts
  /** Hours since the import was asked for. */
  readonly age: number
}

/** As they were asked for. */
export interface ImportOptions {
  /** What cannot be fetched in the end does not end the import. */
  readonly optimistic?: boolean
  readonly stages?: readonly string[]
  readonly pageSize?: number
}

/** What the import knows the repository by. */
export interface SourceFacts {
  readonly defaultBranch?: string | null
}

export interface NewStep {
  readonly stage: number
  readonly relation: string
  readonly number: number
  readonly cursor: string
}

/**
 * The next step that nobody does, held for so many seconds; of each kind no more are done at once than `most` says, on
 * all nodes. A date: the next one is due then.
 */
export async function claim(
  db: Database,
  seconds: number,
  most: Readonly<Record<HostKind, number>>,
): Promise<Step | Date | undefined> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('host_import_steps', 305))`.execute(tx)
    const { rows } = await sql<Step>`
      with busy as materialized (
        select k.kind, (
          select count(*) from host_import_steps r
          where r.kind = k.kind and r.state = 'started' and r.leased_until >= now()) >= k.most::int as full
        from jsonb_each_text(${JSON.stringify(most)}::jsonb) k (kind, most)
      ), next as (
        select s.id from host_import_steps s
        where (s.state = 'created' and s.due_at <= now() or s.state = 'started' and s.leased_until < now())
          and not exists (
            select from host_import_steps o where o.import_id = s.import_id and o.stage < s.stage)
          and s.kind not in (select b.kind from busy b where b.full)
        order by s.id limit 1
      ), held as (
        update host_import_steps s set state = 'started', attempts = s.attempts + 1,
          leased_until = now() + make_interval(secs => ${seconds}::int)
        from next where s.id = next.id
        returning s.id, s.attempts, s.stage, s.relation, s.number, s.cursor, s.import_id
      ), begun as (
        update host_imports i set state = 'started' from held
        where i.id = held.import_id and i.state = 'scheduled' returning i.project_id
      ), shown as (
        update projects p set import_status = 'started' from begun where p.id = begun.project_id
      )
      select h.id, h.attempts, h.stage, h.relation, h.number, h.cursor, i.id as "importId",
        i.project_id as "projectId", i.user_id as "userId", i.kind, i.address, i.full_name as "fullName",
        i.credentials, i.options, i.source, extract(epoch from now() - i.created_at)::float8 / 3600 as age
      from held h join host_imports i on i.id = h.import_id`.execute(tx)
    if (rows[0] !== undefined) return rows[0]
    const { rows: later } = await sql<{ at: Date | null }>`
      select min(s.due_at) as at from host_import_steps s where s.state = 'created' and s.due_at > now()`.execute(
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
    update host_import_steps set leased_until = now() + make_interval(secs => ${seconds}::int)
    where id = any (${[...ids]}::bigint[]) and state = 'started' returning id`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

const held = ({ id, attempts }: Step) => sql`id = ${id} and attempts = ${attempts} and state = 'started'`

export async function release(db: Writer, step: Step): Promise<void> {
  await sql`update host_import_steps set state = 'created', leased_until = null where ${held(step)}`.execute(
    db,
  )
}

/** To be done again in so many seconds. */
export async function postpone(db: Writer, step: Step, seconds: number): Promise<void> {
  await sql`
    update host_import_steps set state = 'created', leased_until = null,
      due_at = now() + make_interval(secs => ${seconds}::float8)
    where ${held(step)}`.execute(db)
}

/** Nothing of the import is done for so many seconds; then it is as if the step had not been begun. */
export async function pause(db: Writer, step: Step, seconds: number): Promise<void> {
  const until = sql`now() + make_interval(secs => ${seconds}::float8)`
  await sql`
    with waiting as (
      update host_import_steps set due_at = greatest(due_at, ${until})
      where import_id = ${step.importId} and state = 'created'
    )
    update host_import_steps set state = 'created', leased_until = null, attempts = 0, due_at = ${until}
    where ${held(step)}`.execute(db)
}

/** What could not be brought, as `GET /projects/:id/import` tells it. */
export interface Failure {
  readonly relation_name: string
  readonly exception_class: string
  readonly exception_message: string
  /** What the host knows it by. */
  readonly source: string
}

export interface Report {
  readonly fetched?: number
  readonly imported?: number
  readonly failures?: readonly Failure[]
  /** What there is to do because of it. */
  readonly further?: readonly NewStep[]
}

/** In the transaction that does it. Throws `Superseded` where somebody else does it by now, or nobody any more. */
export async function finish(tx: Tx, step: Step, report: Report = {}): Promise<void> {
  const { rows } = await sql`delete from host_import_steps where ${held(step)} returning id`.execute(tx)
  if (rows.length === 0) throw new Superseded()
  await addSteps(tx, step.importId, report.further ?? [])
  await note(tx, step, report)
  await settle(tx, step)
}

export async function addSteps(tx: Tx, importId: number, steps: readonly NewStep[]): Promise<void> {
  await sql`
    insert into host_import_steps (import_id, kind, stage, relation, number, cursor)
    select i.id, i.kind, s.stage, s.relation, s.number, s.cursor
    from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb)
      s (stage integer, relation text, number integer, cursor text), host_imports i
    where i.id = ${importId}
    order by s.stage, s.relation, s.number`.execute(tx)
}

/** The step is given up; a fatal fault, and where the import is to be whole any other, ends all of it. */
export async function giveUp(tx: Tx, step: Step, fault: HostFault): Promise<void> {
  const { rows } = await sql`delete from host_import_steps where ${held(step)} returning id`.execute(tx)
  if (rows.length === 0) throw new Superseded()
  const failure = {
    relation_name: step.relation,
    exception_class: fault.name,
    exception_message: fault.message,
    source: step.cursor.slice(0, 200),
  }
  await note(tx, step, { failures: [failure] })
  if (fault.fatal || step.options.optimistic !== true) await end(tx, step, 'failed', fault.message)
  else await settle(tx, step)
}

interface Stats {
  readonly fetched: Readonly<Record<string, number>>
  readonly imported: Readonly<Record<string, number>>
}

/** Things that could not be brought, of which it is told. */
const mostFailed = 100

async function note(tx: Tx, { importId, projectId, relation }: Step, report: Report): Promise<void> {
  // One at a time: the last one of two has to see that it is. Rows that name the import may be written meanwhile.
  await sql`select from host_imports where id = ${importId} for no key update`.execute(tx)
  const { fetched = 0, imported = 0, failures = [] } = report
  if (projectId === null || (fetched === 0 && imported === 0 && failures.length === 0)) return
  const { rows } = await sql<{ stats: Partial<Stats>; failed: Failure[] }>`
    select i.stats, i.failed from project_imports i where i.project_id = ${projectId}`.execute(tx)
  const { stats = {}, failed = [] } = rows[0] ?? {}
  const more = (counts: Readonly<Record<string, number>> = {}, count: number) => ({
    ...counts,
    [relation]: (counts[relation] ?? 0) + count,
  })
  const now: Stats = { fetched: more(stats.fetched, fetched), imported: more(stats.imported, imported) }
  await sql`
    update project_imports set stats = ${JSON.stringify(now)}::jsonb,
      failed = ${JSON.stringify([...failed, ...failures].slice(0, mostFailed))}::jsonb
    where project_id = ${projectId}`.execute(tx)
}

/** An import with nothing left to do is at its end. */
async function settle(tx: Tx, step: Step): Promise<void> {
  const { rows } = await sql`
    select from host_import_steps s where s.import_id = ${step.importId} limit 1`.execute(tx)
  if (rows.length === 0) await end(tx, step, 'finished', null)
}

/** The import is over, and nothing is kept that only it needed. */
export async function end(
  tx: Tx,
  { importId, projectId }: Pick<Step, 'importId' | 'projectId'>,
  state: 'finished' | 'failed' | 'canceled',
  error: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    update host_imports set state = ${state}, credentials = null
    where id = ${importId} and state in ('scheduled', 'started') returning id`.execute(tx)
  if (rows.length === 0) return false
  for (const table of ['steps', 'items', 'people'] as const) {
    await sql`delete from ${sql.table(`host_import_${table}`)} where import_id = ${importId}`.execute(tx)
  }
  if (projectId === null) return true
  await sql`
    with told as (update project_imports set error = ${error} where project_id = ${projectId})
    update projects set import_status = ${state} where id = ${projectId}`.execute(tx)
  return true
}
