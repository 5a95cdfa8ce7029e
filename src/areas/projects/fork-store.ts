import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'

/** The namespace with this id or full path. Digits are an id. */
export async function findNamespace(db: Reader, idOrPath: number | string): Promise<number | undefined> {
  const text = String(idOrPath)
  const { rows } = /^\d{1,15}$/.test(text)
    ? await sql<{ id: number }>`select n.id from namespaces n where n.id = ${Number(text)}`.execute(db)
    : await sql<{ id: number }>`
        select r.namespace_id as id from routes r
        where r.path_key = ${text.toLowerCase()} and not r.redirect and r.namespace_id is not null`.execute(
        db,
      )
  return rows[0]?.id
}

/** Whether one of these groups keeps forks of its projects inside its tree. */
export async function isKeptInside(db: Reader, line: readonly number[]): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces n
    where n.id = any (${[...line]}::bigint[]) and n.settings -> 'prevent_forking_outside_group' = 'true'`.execute(
    db,
  )
  return rows.length > 0
}

/** What a fork begins with besides what access knows of its source. */
export interface Source {
  readonly description: string | null
  readonly storedLevels: Readonly<Record<string, number>>
}

export async function readSource(db: Reader, id: number): Promise<Source | undefined> {
  const { rows } = await sql<Source>`
    select p.description, p.feature_levels as "storedLevels" from projects p where p.id = ${id}`.execute(db)
  return rows[0]
}

/** Makes one project the fork of another; those made from it come along into the other's network. */
export async function link(
  tx: Tx,
  forkId: number,
  sourceId: number,
  { copied }: { readonly copied: boolean },
): Promise<void> {
  const imported = copied ? sql`, import_status = 'finished'` : sql``
  await sql`
    with network as (
      select coalesce(s.fork_network, s.id) as id, s.visibility from projects s where s.id = ${sourceId} for update
    ),
    moved as (
      update projects p set fork_network = network.id from network where p.fork_network = ${forkId} and p.id <> ${forkId}
    )
    update projects p set forked_from_id = ${sourceId}, fork_network = network.id,
      visibility = least(p.visibility, network.visibility) ${imported}
    from network where p.id = ${forkId}`.execute(tx)
}

/** The project begins a network of its own with all that was made from it. */
export async function unlink(tx: Tx, id: number): Promise<void> {
  await sql`
    with recursive below (id) as (
      select ${id}::bigint
      union
      select p.id from below join projects p on p.forked_from_id = below.id
    )
    update projects p set fork_network = ${id} from below where p.id = below.id and p.id <> ${id}`.execute(tx)
  await sql`update projects set forked_from_id = null, fork_network = null where id = ${id}`.execute(tx)
}

/** A repository that came with its branches. */
export async function setFilled(tx: Tx, id: number, sourceId: number): Promise<void> {
  await sql`
    update projects p set repository_empty = false, refs_version = p.refs_version + 1, readme_path = s.readme_path,
      license_path = s.license_path, license_key = s.license_key
    from projects s where s.id = ${sourceId} and p.id = ${id}`.execute(tx)
}

export interface Tie {
  readonly id: number
  readonly visibility: number
  readonly forked_from_id: number | null
  readonly fork_network: number | null
}

export async function lockAll(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, Tie>> {
  const { rows } = await sql<Tie>`
    select p.id, p.visibility, p.forked_from_id, p.fork_network from projects p
    where p.id = any (${[...ids]}::bigint[]) order by p.id for update`.execute(tx)
  return new Map(rows.map((row) => [row.id, row]))
}

/** The forks of the project that is the subject, for a list of projects `p`. */
export const forksOfSubject: RawBuilder<unknown> = sql`p.forked_from_id = subject.id`
