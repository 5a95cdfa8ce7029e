import { sql, type Database, type Reader, type Writer } from '../../kernel/db/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Generation } from './shape.ts'
import { isIndexed } from './store.ts'

/** A repository that is behind in the index, or not in it yet. */
export interface Job {
  readonly id: number
  readonly kind: 'code' | 'pages'
  /** Of the project, or of the wiki. */
  readonly recordId: number
  /** What the index has of it, in which generation. */
  readonly generation: number | null
  readonly commit: string | null
  readonly wanted: number
  readonly attempts: number
}

/** The next one, held for so many seconds; `most`: at once, on all nodes, 0 for as many as there are. */
export async function claim(db: Database, seconds: number, most: number): Promise<Job | Date | undefined> {
  return db.transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('search_repositories', 300))`.execute(tx)
    const { rows } = await sql<Job>`
      update search_repositories h set attempts = h.attempts + 1,
        leased_until = now() + make_interval(secs => ${seconds}::int)
      from (
        select r.id from search_repositories r
        where r.due_at <= now() and (r.leased_until is null or r.leased_until < now())
          and (${most}::int = 0 or ${most}::int > (
            select count(*) from search_repositories held where held.leased_until >= now()))
        order by r.due_at, r.id limit 1) next
      where h.id = next.id
      returning h.id, h.kind, h.record_id as "recordId", h.generation, h.commit, h.wanted, h.attempts`.execute(
      tx,
    )
    if (rows[0] !== undefined) return rows[0]
    const { rows: later } = await sql<{ at: Date | null }>`
      select min(r.due_at) as at from search_repositories r where r.due_at > now() and r.leased_until is null`.execute(
      tx,
    )
    return later[0]?.at ?? undefined
  })
}

export async function extend(
  db: Writer,
  jobs: readonly Job[],
  seconds: number,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ id: number }>`
    update search_repositories set leased_until = now() + make_interval(secs => ${seconds}::int)
    where id = any (${jobs.map(({ id }) => id)}::bigint[]) and leased_until is not null returning id`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

/** To be done again in so many seconds. */
export async function postpone(db: Writer, { id, attempts }: Job, seconds: number): Promise<void> {
  await sql`
    update search_repositories set leased_until = null, due_at = now() + make_interval(secs => ${seconds}::float8)
    where id = ${id} and attempts = ${attempts}`.execute(db)
}

/** What the index has now; null: nothing. What changed meanwhile is done next. */
export async function finish(
  db: Writer,
  { id, wanted }: Job,
  { generation }: Generation,
  commit: string | null,
): Promise<void> {
  await sql`
    update search_repositories r set leased_until = null, generation = ${generation}, commit = ${commit}, attempts = 0,
      due_at = case when r.wanted <> ${wanted} then now() end
    where r.id = ${id}`.execute(db)
}

export async function drop(db: Writer, { id, wanted }: Job): Promise<void> {
  await sql`delete from search_repositories r where r.id = ${id} and r.wanted = ${wanted}`.execute(db)
}

/** A repository as git finds it. */
export interface Placed {
  readonly id: number | string
  readonly storage: string
  readonly defaultBranch: string | null
  readonly repositoryEmpty: boolean
  /** Null for the wiki of a group. */
  readonly projectId: number | null
  readonly indexed: boolean
}

export async function find(
  db: Reader,
  values: SettingValues,
  { kind, recordId }: Pick<Job, 'kind' | 'recordId'>,
): Promise<Placed | undefined> {
  const found =
    kind === 'code'
      ? sql<Placed>`
          select p.id, p.storage, p.default_branch as "defaultBranch", p.repository_empty as "repositoryEmpty",
            p.id as "projectId", ${isIndexed(values)} as indexed
          from projects p join namespaces n on n.id = p.namespace_id where p.id = ${recordId}`
      : sql<Placed>`
          select 'wiki-' || w.id as id, w.storage, w.default_branch as "defaultBranch", w.empty as "repositoryEmpty",
            w.project_id as "projectId", ${isIndexed(values)} as indexed
          from wikis w left join projects p on p.id = w.project_id
            join namespaces n on n.id = coalesce(p.namespace_id, w.namespace_id)
          where w.id = ${recordId}`
  return (await found.execute(db)).rows[0]
}

/** The version of documents that are read from now on. */
export async function nextVersion(db: Writer): Promise<number> {
  const { rows } = await sql<{
    version: number
  }>`select nextval('search_versions')::float8 as version`.execute(db)
  return rows[0]!.version
}
