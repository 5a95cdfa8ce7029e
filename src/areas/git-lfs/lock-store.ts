import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'

export interface LockRow {
  readonly id: number
  readonly path: string
  readonly locked_at: Date
  readonly user_id: number
  readonly owner: string
}

const columns = sql`k.id, k.path, k.locked_at, k.user_id, u.name as owner`

/** In the order in which they were taken; `after`: an id. */
export async function list(
  db: Reader,
  projectId: number,
  {
    path,
    id,
    after,
    limit,
  }: {
    path?: string | undefined
    id?: number | undefined
    after?: number | undefined
    limit: number
  },
): Promise<LockRow[]> {
  const { rows } = await sql<LockRow>`
    select ${columns} from lfs_locks k join users u on u.id = k.user_id
    where k.project_id = ${projectId}
      ${path === undefined ? sql`` : sql`and md5(k.path) = md5(${path})`}
      ${id === undefined ? sql`` : sql`and k.id = ${id}`}
      ${after === undefined ? sql`` : sql`and k.id > ${after}`}
    order by k.id limit ${limit}`.execute(db)
  return rows
}

/** False: somebody has it, perhaps the same one. */
export async function take(db: Database, projectId: number, userId: number, path: string): Promise<boolean> {
  const { rows } = await sql`
    insert into lfs_locks (project_id, user_id, path) values (${projectId}, ${userId}, ${path})
    on conflict do nothing returning id`.execute(db.writer)
  return rows.length > 0
}

export async function release(tx: Tx, projectId: number, id: number): Promise<void> {
  await sql`delete from lfs_locks k where k.project_id = ${projectId} and k.id = ${id}`.execute(tx)
}

/** Those of these files that somebody else works on, with the name of one who does. */
export async function heldByOthers(
  db: Reader,
  projectId: number,
  userId: number | null,
  paths: readonly string[],
): Promise<{ path: string; username: string }[]> {
  const { rows } = await sql<{ path: string; username: string }>`
    select k.path, u.username from lfs_locks k join users u on u.id = k.user_id
    where k.project_id = ${projectId} and k.user_id is distinct from ${userId} and k.path = any (${[...paths]}::text[])
    order by k.id limit 20`.execute(db)
  return rows
}
