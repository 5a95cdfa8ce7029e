import type { RawBuilder } from 'kysely'
import { actorRow, todoReadable, type Actor } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { countedPast, windowOf, type PageInput } from '../../kernel/endpoint/index.ts'
import type { MembershipEvent } from '../members/index.ts'
import { lineName } from '../namespaces/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'
import { reads, type Subject } from './people.ts'

export const actions = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'review_requested',
  'member_access_requested',
  'review_submitted',
] as const
export type TodoAction = (typeof actions)[number]

/** What to-dos are about. A project or a group: somebody asks to be let in. */
export type TodoKind = 'Issue' | 'MergeRequest' | 'Epic' | 'Commit' | 'Project' | 'Namespace'

export interface NewTodos {
  readonly on: Subject
  readonly action: TodoAction
  readonly userIds: readonly number[]
  /** Who made them necessary. */
  readonly authorId: number | null
  /** The note that did; with it they go. */
  readonly noteId?: number
  /** Nobody is told a second time, even when he has done with the first. */
  readonly once?: boolean
}

/**
 * Writes to-dos for those who may read what they are about and have none of the kind waiting. Tells who got one and what
 * its id is.
 */
export async function addTodos(tx: Tx, todos: NewTodos): Promise<{ id: number; userId: number }[]> {
  const { on, action, userIds, authorId, noteId, once = false } = todos
  if (userIds.length === 0) return []
  const sha = on.sha ?? null
  const same = sql`
    t.user_id = actor.id and t.target_kind = ${on.kind} and t.target_id is not distinct from ${on.id}::bigint
      and t.commit_sha is not distinct from ${sha}::text and t.action = ${action}`
  const told =
    noteId !== undefined
      ? sql`false`
      : sql`exists (
          select from todos t where ${same} and t.note_id is null ${once ? sql`` : sql`and t.state = 'pending'`})`
  const { rows } = await sql<{ id: number; userId: number }>`
    insert into todos (user_id, author_id, project_id, namespace_id, action, target_kind, target_id, commit_sha, note_id)
    select actor.id, ${authorId}::bigint, ${on.projectId}::bigint, ${on.namespaceId}::bigint, ${action}, ${on.kind},
      ${on.id}::bigint, ${sha}::text, ${noteId ?? null}::bigint
    from users actor
    where actor.id = any (${[...new Set(userIds)]}::bigint[]) and ${reads(on)} and not ${told}
    on conflict (note_id, user_id) where note_id is not null do nothing
    returning id, user_id as "userId"`.execute(tx)
  return rows
}

/** To-dos of a request to be let in, for those who may answer it; none of one that is decided. */
export async function askToAdmit(
  tx: Tx,
  request: Pick<MembershipEvent, 'memberId' | 'projectId' | 'namespaceId'>,
  userIds: readonly number[],
): Promise<void> {
  const { memberId, projectId, namespaceId } = request
  await sql`
    with asked as (
      select r.* from access_requests r
      where r.user_id = ${memberId} and (r.project_id = ${projectId}::bigint or r.namespace_id = ${namespaceId}::bigint)
      for key share)
    insert into todos (user_id, author_id, project_id, namespace_id, action, target_kind, target_id)
    select u.id, r.user_id, r.project_id, r.namespace_id, 'member_access_requested',
      case when r.project_id is null then 'Namespace' else 'Project' end, coalesce(r.project_id, r.namespace_id)
    from asked r cross join users u
    where u.id = any (${[...userIds]}::bigint[]) and not exists (
      select from todos t
      where t.user_id = u.id and t.author_id = r.user_id and t.action = 'member_access_requested'
        and t.target_id = coalesce(r.project_id, r.namespace_id) and t.state = 'pending'
        and t.target_kind = case when r.project_id is null then 'Namespace' else 'Project' end)`.execute(tx)
}

/** The to-dos of somebody about a thing are done: he has acted upon it. */
export async function finishTodos(
  tx: Tx,
  on: Pick<Subject, 'kind' | 'id'>,
  userIds: readonly number[],
  only?: readonly TodoAction[],
): Promise<number> {
  const { rows } = await sql`
    update todos set state = 'done', updated_at = now()
    where target_kind = ${on.kind} and target_id = ${on.id}::bigint and user_id = any (${[...userIds]}::bigint[])
      and state = 'pending' and ${only === undefined ? sql`true` : sql`action = any (${[...only]}::text[])`}
    returning id`.execute(tx)
  return rows.length
}

export interface TodoFilter {
  readonly action?: TodoAction | undefined
  readonly author_id?: number | undefined
  readonly project_id?: number | undefined
  readonly group_id?: number | undefined
  readonly state: 'pending' | 'done'
  readonly type?: string | undefined
}

export interface TodoRow {
  readonly id: number
  readonly action: TodoAction
  readonly state: 'pending' | 'done'
  readonly target_kind: TodoKind
  readonly target_id: number | null
  readonly commit_sha: string | null
  readonly note_id: number | null
  /** Of the note, where one made it. */
  readonly note: string | null
  readonly author: BasicUserRow | null
  readonly project: PlaceRow | null
  readonly group: PlaceRow | null
  readonly created_at: string
  readonly updated_at: string
}

export interface PlaceRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly full_name: string
  readonly parent_id: number | null
}

const columns = sql`
  t.id, t.action, t.state, t.target_kind, t.target_id, t.commit_sha, t.note_id, t.created_at, t.updated_at,
  w.body as note, ${basicUserJson('u')} as author,
  case when place.id is not null then json_build_object('id', place.id, 'name', place.name, 'path', place.path,
    'full_path', place.full_path, 'full_name', ${lineName('home')} || ' / ' || place.name) end as project,
  case when g.id is not null then json_build_object('id', g.id, 'name', g.name, 'path', g.path,
    'full_path', g.full_path, 'parent_id', g.parent_id) end as "group"`

const joins = sql`
  left join notes w on w.id = t.note_id left join discussions said on said.id = w.discussion_id
  left join users u on u.id = t.author_id left join projects place on place.id = t.project_id
  left join namespaces home on home.id = place.namespace_id left join namespaces g on g.id = t.namespace_id`

function conditions(filter: TodoFilter): RawBuilder<unknown> {
  const all = [sql`t.user_id = actor.id`, sql`t.state = ${filter.state}`]
  if (filter.action !== undefined) all.push(sql`t.action = ${filter.action}`)
  if (filter.author_id !== undefined) all.push(sql`t.author_id = ${filter.author_id}`)
  if (filter.project_id !== undefined) all.push(sql`t.project_id = ${filter.project_id}`)
  if (filter.type !== undefined) all.push(sql`t.target_kind = ${filter.type}`)
  if (filter.group_id !== undefined) {
    const inside = sql`select n.id from namespaces n where n.traversal_ids @> array[${filter.group_id}::bigint]`
    all.push(sql`(t.namespace_id in (${inside}) or place.namespace_id in (${inside}))`)
  }
  return sql.join(all, sql` and `)
}

/** The caller's own, newest first. */
export async function list(
  db: Reader,
  actor: Actor,
  filter: TodoFilter,
  page: PageInput,
): Promise<{ rows: TodoRow[]; total: number }> {
  const from = sql`
    from ${actorRow(actor)} cross join todos t ${joins} where ${conditions(filter)} and ${todoReadable}`
  const { rows } = await sql<{ rows: TodoRow[] | null; total: number }>`
    select
      (select json_agg(r) from (
        select * from (select ${columns} ${from} order by t.id desc ${windowOf(page)}) walked limit ${page.limit}) r) as rows,
      (select count(*) from (select ${from} ${countedPast(page)}) counted) as total`.execute(db)
  return { rows: rows[0]!.rows ?? [], total: rows[0]!.total }
}

/** One of the caller's own. */
export async function findTodo(db: Reader | Tx, actor: Actor, id: number): Promise<TodoRow | undefined> {
  const { rows } = await sql<{ row: TodoRow }>`
    select to_json(r) as row from (
      select ${columns} from ${actorRow(actor)} cross join todos t ${joins}
      where t.id = ${id} and t.user_id = actor.id and ${todoReadable}) r`.execute(db)
  return rows[0]?.row
}

/** Marks one of a user's own done, or all of them. */
export async function markDone(tx: Tx, userId: number, id?: number): Promise<void> {
  await sql`
    update todos set state = 'done', updated_at = now()
    where user_id = ${userId} and state = 'pending' and ${id === undefined ? sql`true` : sql`id = ${id}`}`.execute(
    tx,
  )
}
