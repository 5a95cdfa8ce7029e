import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { lineName } from '../namespaces/index.ts'

export interface MoveRow {
  readonly id: number
  readonly created_at: Date | string
  readonly state: string
  readonly source_storage_name: string
  readonly destination_storage_name: string
  readonly project: Readonly<Record<string, unknown>>
}

const columns = sql`
  m.id, m.created_at, m.state, m.source_storage as source_storage_name,
  m.destination_storage as destination_storage_name,
  json_build_object('id', p.id, 'description', p.description, 'name', p.name, 'name_with_namespace',
    ${lineName('n')} || ' / ' || p.name, 'path', p.path, 'path_with_namespace', p.full_path, 'created_at', p.created_at) as project`

const tables = sql`
  from repository_storage_moves m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id`

/** `of`: the endpoint's project, or all. */
export type Scope = 'project' | 'instance'

function within(scope: Scope): RawBuilder<unknown> {
  return scope === 'project' ? sql`m.project_id = subject.id` : sql`true`
}

export function list(scope: Scope, input: PageInput): Read<MoveRow> {
  return page({ columns, from: sql`${tables} where ${within(scope)}`, order: sql`m.id desc` }, input)
}

export function one(scope: Scope, id: number): Read<MoveRow> {
  return rows(sql`select ${columns} ${tables} where ${within(scope)} and m.id = ${id}`)
}

export async function find(db: Reader, id: number): Promise<MoveRow> {
  const result = await sql<MoveRow>`select ${columns} ${tables} where m.id = ${id}`.execute(db)
  return result.rows[0]!
}

export async function create(
  tx: Tx,
  projectId: number,
  { source, destination }: { readonly source: string; readonly destination: string },
): Promise<number> {
  const { id } = await tx
    .insertInto('repository_storage_moves')
    .values({ project_id: projectId, source_storage: source, destination_storage: destination })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(
      onConstraint('repository_storage_moves_running', () =>
        invalid({ base: ['the repository is being moved already'] }),
      ),
    )
  return id
}

/** Projects on a storage that nobody moves, after this id. */
export async function onStorage(
  db: Reader,
  storage: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const result = await sql<{ id: number }>`
    select p.id from projects p
    where p.storage = ${storage} and p.id > ${after} and not exists (
      select from repository_storage_moves m where m.project_id = p.id and m.state in ('scheduled', 'started', 'replicated'))
    order by p.id limit ${limit}`.execute(db)
  return result.rows.map(({ id }) => id)
}

export interface Move {
  readonly id: number
  readonly projectId: number
  readonly source: string
  readonly destination: string
  readonly state: string
}

const moveColumns = [
  'm.id',
  'm.project_id as projectId',
  'm.source_storage as source',
  'm.destination_storage as destination',
  'm.state',
] as const

export async function load(db: Reader, id: number): Promise<Move | undefined> {
  const row = await db
    .selectFrom('repository_storage_moves as m')
    .select(moveColumns)
    .where('m.id', '=', id)
    .executeTakeFirst()
  return row
}

export async function setState(db: Writer, id: number, state: string): Promise<void> {
  await db
    .updateTable('repository_storage_moves as m')
    .set({ state, updated_at: sql`now()` })
    .where('m.id', '=', id)
    .execute()
}

/** The wiki of a project that is moved. */
export interface MovedWiki {
  readonly id: number
  readonly storage: string
  readonly refsVersion: number
  readonly defaultBranch: string
}

export interface Held {
  readonly refsVersion: number
  readonly wiki: MovedWiki | null
}

const wikiColumn = sql`(
  select json_build_object('id', w.id, 'storage', w.storage, 'refsVersion', w.refs_version,
    'defaultBranch', w.default_branch)
  from wikis w where w.project_id = p.id)`

export async function wikiOf(db: Reader, projectId: number): Promise<MovedWiki | null> {
  const { rows: found } = await sql<{ wiki: MovedWiki | null }>`
    select ${wikiColumn} as wiki from projects p where p.id = ${projectId}`.execute(db)
  return found[0]?.wiki ?? null
}

/** Keeps pushes out for so many seconds from now; undefined when the project is not on this storage any more. */
export async function hold(
  db: Writer,
  { projectId, source }: Move,
  seconds: number,
): Promise<Held | undefined> {
  const { rows: found } = await sql<Held>`
    update projects p set moving_until = now() + make_interval(secs => ${seconds})
    where p.id = ${projectId} and p.storage = ${source}
    returning p.refs_version as "refsVersion", ${wikiColumn} as wiki`.execute(db)
  return found[0]
}

export async function release(db: Writer, projectId: number): Promise<void> {
  await sql`update projects set moving_until = null where id = ${projectId}`.execute(db)
}

/** Whether somebody moves refs at this moment, who came before pushes were kept out. */
export async function isBusy(db: Reader, projectId: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from ref_updates r where r.project_id = ${projectId} and r.state = 'prepared'
    union all
    select from wikis w join wiki_ref_updates u on u.wiki_id = w.id
    where w.project_id = ${projectId} and u.state = 'prepared' limit 1`.execute(db)
  return found.length > 0
}

/**
 * From now on the project and its wiki live on the new storage, unless pushes were let in again meanwhile. `point` has
 * the head of the project's copy put where the default branch is now.
 */
export async function settle(
  db: Database,
  { id, projectId, source, destination }: Move,
  point: (defaultBranch: string) => Promise<void>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows: moved } = await sql<{ default_branch: string | null }>`
      update projects set storage = ${destination}, moving_until = null, refs_version = refs_version + 1
      where id = ${projectId} and storage = ${source} and moving_until > now() returning default_branch`.execute(
      tx,
    )
    const [project] = moved
    if (project === undefined) return false
    if (project.default_branch !== null) await point(project.default_branch)
    await sql`
      update wikis set storage = ${destination}, refs_version = refs_version + 1
      where project_id = ${projectId} and storage <> ${destination}`.execute(tx)
    await setState(tx, id, 'replicated')
    return true
  })
}

/** A move that has not been settled has failed; false where it has been, whatever the mover was told. */
export async function fail(db: Writer, id: number): Promise<boolean> {
  const { rows: failed } = await sql`
    update repository_storage_moves set state = 'failed', updated_at = now()
    where id = ${id} and state = 'started' returning id`.execute(db)
  return failed.length > 0
}

/** Moves that began long ago and that nobody goes on with. */
export async function stranded(db: Reader): Promise<Move[]> {
  return db
    .selectFrom('repository_storage_moves as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .select(moveColumns)
    .where('m.state', '=', 'started')
    .where('m.updated_at', '<', sql<Date>`now() - interval '10 minutes'`)
    .where((where) =>
      where.or([where('p.moving_until', 'is', null), where('p.moving_until', '<', sql<Date>`now()`)]),
    )
    .execute()
}
