import { nextIid, onConstraint, sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { refused } from '../../kernel/errors/index.ts'
import type { UserListRow } from './entities.ts'
import { taken } from './rules.ts'

const columns = sql`l.id, l.iid, l.project_id, l.name, l.user_xids, l.created_at, l.updated_at`

/** Read together with the caller's access: `subject` is the project. */
export function list(search: string | undefined, input: PageInput): Read<UserListRow> {
  // Position, not LIKE: what is searched for is text, not a pattern.
  const found = search === undefined ? sql`` : sql`and position(lower(${search}) in lower(l.name)) > 0`
  const from = sql`from feature_flag_user_lists l where l.project_id = subject.id ${found}`
  return page({ columns, from, order: sql`l.iid` }, input)
}

export function one(iid: number): Read<UserListRow> {
  return rows(sql`
    select ${columns} from feature_flag_user_lists l where l.project_id = subject.id and l.iid = ${iid}`)
}

export interface ListValues {
  readonly name: string
  readonly userXids: string
}

export async function create(
  tx: Tx,
  projectId: number,
  { name, userXids }: ListValues,
): Promise<UserListRow> {
  const { rows: made } = await sql<UserListRow>`
    with counter as (${nextIid({ projectId }, 'feature_flag_user_list')})
    insert into feature_flag_user_lists as l (project_id, iid, name, user_xids)
    select ${projectId}, counter.iid, ${name}, ${userXids} from counter returning ${columns}`
    .execute(tx)
    .catch(onConstraint('feature_flag_user_lists_name', taken))
  return made[0]!
}

/** Undefined where it is gone. */
export async function change(
  db: Writer,
  id: number,
  { name, userXids }: ListValues,
): Promise<UserListRow | undefined> {
  const { rows: changed } = await sql<UserListRow>`
    update feature_flag_user_lists l set name = ${name}, user_xids = ${userXids}, updated_at = now()
    where l.id = ${id} returning ${columns}`
    .execute(db)
    .catch(onConstraint('feature_flag_user_lists_name', taken))
  return changed[0]
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from feature_flag_user_lists l where l.id = ${id}`
    .execute(db)
    .catch(
      onConstraint('feature_flag_strategies_user_list', () =>
        refused(409, ['User list is associated with a strategy']),
      ),
    )
}
