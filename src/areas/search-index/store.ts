import { sql, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Generation } from './shape.ts'

export interface State extends Generation {
  readonly recording: boolean
  readonly ready: boolean
  /** Everything that began before what made it unready has ended, so that a filling finds it. */
  readonly calm: boolean
  /** Seconds since the generation was begun. */
  readonly age: number
  readonly serving: number | null
}

export interface Change {
  readonly id: number
  readonly kind: string
  readonly recordId: number
}

/** Told whenever there is something new to do. */
export const channel = 'search_changes'

/** The kinds that a filling goes through, by the table that has them. */
export const filled = {
  projects: sql`projects r`,
  issues: sql`issues r`,
  merge_requests: sql`merge_requests r`,
  milestones: sql`milestones r`,
  users: sql`users r`,
  notes: sql`notes r`,
  code: sql`projects r`,
  pages: sql`wikis r`,
} as const
export type FilledKind = keyof typeof filled

/** The state, in which is recorded from now on; what made it unready is seen by this, once all record. */
export async function look(db: Writer): Promise<State> {
  const { rows } = await sql<State>`
    with seen as (
      update search_state set recording = true,
        since = case when recording then pg_snapshot_xmax(pg_current_snapshot()) end
      where since is null or not recording
      returning id
    )
    select s.name, s.generation, s.recording, s.ready, s.serving,
      coalesce(pg_snapshot_xmin(pg_current_snapshot()) >= s.since, false) and s.recording as calm,
      least(extract(epoch from now() - greatest(s.begun_at, '2000-01-01')), 1e9)::float8 as age
    from search_state s`.execute(db)
  return rows[0]!
}

/** A name that no other instance on the same cluster has; before anything is there under the one of before. */
export async function rename(db: Writer): Promise<void> {
  await sql`
    update search_state set name = 'guildhall-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 8)`.execute(
    db,
  )
}

/** What the indices of this instance are called. */
export async function nameOf(db: Reader): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`select s.name from search_state s`.execute(db)
  return rows[0]?.name
}

/** Nothing is recorded any more, and nothing waits. */
export async function forget(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql`
      update search_state set recording = false, ready = false, since = null where recording returning id`.execute(
      tx,
    )
    if (rows.length > 0) await sql`delete from search_changes`.execute(tx)
  })
}

/** Begins the next generation, which is filled from the start; false: somebody else has begun it. */
export async function begin(db: Database, { generation }: Generation): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows } = await sql`
      update search_state set generation = ${generation + 1}, ready = true, begun_at = now(), marker = null
      where generation = ${generation} and since is not null returning id`.execute(tx)
    if (rows.length === 0) return false
    await sql`delete from search_changes`.execute(tx)
    await sql`
      insert into search_fillings (kind) select kind from unnest(${Object.keys(filled)}::text[]) kind
      on conflict (kind) do update set after_id = 0, done = false`.execute(tx)
    return true
  })
}

/** Queues what comes next of a filling; false: there is no more, or somebody else does it. */
export async function fill(db: Database, count: number): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows } = await sql<{ kind: FilledKind; after: number }>`
      select f.kind, f.after_id as after from search_fillings f where not f.done
      order by f.kind limit 1 for update skip locked`.execute(tx)
    const [next] = rows
    if (next === undefined) return false
    const { kind, after } = next
    await sql`
      with more as (
        select r.id from ${filled[kind]} where r.id > ${after} order by r.id limit ${count}
      ), queued as (
        insert into search_changes (kind, record_id) select ${kind}, m.id from more m order by m.id
      )
      update search_fillings f set after_id = coalesce((select max(m.id) from more m), f.after_id),
        done = (select count(*) from more) < ${count}
      where f.kind = ${kind}`.execute(tx)
    await sql`
      update search_state set marker = coalesce((select max(c.id) from search_changes c), 0)
      where marker is null and not exists (select from search_fillings f where not f.done)`.execute(tx)
    return true
  })
}

/** Whether all that there was when the generation was begun is in the index, while searches look into another one. */
export async function isFilled(db: Reader, { generation }: Generation): Promise<boolean> {
  const { rows } = await sql<{ filled: boolean }>`
    select s.marker is not null and s.serving is distinct from s.generation
      and not exists (select from search_changes c where c.id <= s.marker)
      and not exists (
        select from search_repositories r where r.due_at is not null and r.generation is distinct from s.generation) as filled
    from search_state s where s.generation = ${generation} and s.ready`.execute(db)
  return rows[0]?.filled === true
}

export async function serve(db: Writer, { generation }: Generation): Promise<void> {
  await sql`update search_state set serving = ${generation}`.execute(db)
}

/** A lane that nobody works on and that has something to do, held for so many seconds. */
export interface Lane {
  readonly id: number
  readonly lane: number
  readonly lanes: number
  readonly attempts: number
}

export async function claimLane(
  db: Database,
  seconds: number,
  lanes: number,
): Promise<Lane | Date | undefined> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('search_lanes', 300))`.execute(tx)
    await sql`
      insert into search_lanes (id) select lane from generate_series(1, ${lanes}::int) lane on conflict do nothing`.execute(
      tx,
    )
    const work = sql`(exists (select from search_changes c where c.record_id % ${lanes}::int = l.id - 1)
      or l.id = 1 and exists (select from search_state s where not s.ready or s.due or s.serving is distinct from s.generation))`
    const free = sql`l.id <= ${lanes} and (l.leased_until is null or l.leased_until < now()) and ${work}`
    const { rows } = await sql<{ id: number; attempts: number }>`
      update search_lanes h set leased_until = now() + make_interval(secs => ${seconds}::int), attempts = h.attempts + 1
      from (select l.id from search_lanes l where ${free} and l.due_at <= now() order by l.due_at, l.id limit 1) l
      where h.id = l.id returning h.id, h.attempts`.execute(tx)
    const [held] = rows
    if (held !== undefined) return { id: held.id, lane: held.id - 1, lanes, attempts: held.attempts }
    const { rows: later } = await sql<{ at: Date | null }>`
      select min(l.due_at) as at from search_lanes l where ${free}`.execute(tx)
    return later[0]?.at ?? undefined
  })
}

export async function extendLanes(
  db: Writer,
  lanes: readonly Lane[],
  seconds: number,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    update search_lanes set leased_until = now() + make_interval(secs => ${seconds}::int)
    where id = any (${lanes.map(({ id }) => id)}::int[]) and leased_until is not null returning id`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Gives a lane back. `rest`: seconds until it is to go on. */
export async function releaseLane(
  db: Writer,
  { id, attempts }: Lane,
  { rest, failed }: { readonly rest: number; readonly failed: boolean },
): Promise<void> {
  await sql`
    update search_lanes set leased_until = null, due_at = now() + make_interval(secs => ${rest}::float8),
      attempts = ${failed ? attempts : 0}
    where id = ${id} and attempts = ${attempts}`.execute(db)
}

/** Lets the first lane look after the index. */
export async function letLook(db: Writer): Promise<void> {
  await sql`update search_state set due = true where not due`.execute(db)
}

/** It looks now. */
export async function looking(db: Writer): Promise<void> {
  await sql`update search_state set due = false where due`.execute(db)
}

/** What lanes that rest need not wait for any longer, since a setting is another. */
export async function hurry(db: Writer): Promise<void> {
  await sql`update search_lanes set due_at = now() where due_at > now()`.execute(db)
  await sql`update search_repositories set due_at = now() where due_at > now() and leased_until is null`.execute(
    db,
  )
}

/** What waits in a lane, oldest first, with the version of documents that are read from now on. */
export async function take(
  db: Writer,
  { lane, lanes }: Pick<Lane, 'lane' | 'lanes'>,
  count: number,
): Promise<{ readonly changes: readonly Change[]; readonly version: number }> {
  const { rows: changes } = await sql<Change>`
    select c.id, c.kind, c.record_id as "recordId" from search_changes c
    where c.record_id % ${lanes}::int = ${lane} order by c.id limit ${count}`.execute(db)
  const { rows } = await sql<{
    version: number
  }>`select nextval('search_versions')::float8 as version`.execute(db)
  return { changes, version: rows[0]!.version }
}

export async function waiting(db: Reader, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select from search_changes c limit ${most}) waiting`.execute(db)
  return rows[0]!.count
}

export async function settle(db: Tx | Writer, changes: readonly Change[]): Promise<void> {
  await sql`delete from search_changes where id = any (${changes.map(({ id }) => id)}::bigint[])`.execute(db)
}

/** Whether what project `p` in namespace `n` has is to be indexed. */
export function isIndexed(values: SettingValues) {
  if (!values.elasticsearch_limit_indexing) return sql`true`
  const { elasticsearch_project_ids: projects, elasticsearch_namespace_ids: namespaces } = values
  return sql`(p.id = any (${[...projects]}::bigint[]) or n.traversal_ids && ${[...namespaces]}::bigint[])`
}
