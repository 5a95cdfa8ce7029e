import type { RawBuilder } from 'kysely'
import { actorRow, issueVisibleAnywhere, type Actor } from '../../access/index.ts'
import { chosenIid, nextIid, onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { recordNotFound } from '../../kernel/errors/index.ts'
import type { IssueRow } from './entities.ts'
import { isSubscribed, issueColumns, issueSource } from './rows.ts'
import { iidTaken } from './rules.ts'

/** Positions are 2^20 apart to begin with, so that others fit between. */
const positionBits = 20

/** What a new issue has of its own; labels and assignees are attached afterwards. */
export interface NewIssue {
  readonly projectId: number
  readonly authorId: number
  readonly title: string
  readonly description: string | null
  readonly confidential: boolean
  readonly issueType: string
  readonly discussionLocked: boolean | null
  readonly dueDate: string | null
  readonly milestoneId: number | null
  readonly epicId: number | null
  readonly weight: number | null
  readonly healthStatus: string | null
  /** Null: the next one. */
  readonly iid: number | null
  /** Null: now. */
  readonly createdAt: Date | null
  readonly origin?: Origin | undefined
}

/** Where a request came from, kept for administrators. */
export interface Origin {
  readonly userAgent: string | undefined
  readonly ip: string
}

export async function create(tx: Tx, values: NewIssue): Promise<{ id: number; iid: number }> {
  const place = { projectId: values.projectId }
  const counter = values.iid === null ? nextIid(place, 'issue') : chosenIid(place, 'issue', values.iid)
  const at = sql`coalesce(${values.createdAt}::timestamptz, now())`
  const { rows } = await sql<{ id: number; iid: number }>`
    with counter as (${counter})
    insert into issues (project_id, iid, author_id, title, description, confidential, issue_type, discussion_locked,
      due_date, milestone_id, epic_id, weight, health_status, relative_position, user_agent, ip_address, created_at,
      updated_at)
    select ${values.projectId}, counter.iid, ${values.authorId}, ${values.title}, ${values.description},
      ${values.confidential}, ${values.issueType}, ${values.discussionLocked}::boolean, ${values.dueDate}::date,
      ${values.milestoneId}::bigint, ${values.epicId}::bigint, ${values.weight}::integer, ${values.healthStatus},
      counter.iid << ${sql.lit(positionBits)}, ${values.origin?.userAgent?.slice(0, 1000) ?? null}::text,
      ${values.origin?.ip ?? null}::text, ${at}, ${at}
    from counter returning id, iid`
    .execute(tx)
    .catch(onConstraint('issues_iid', iidTaken))
  return rows[0]!
}

/** The columns that a change writes. */
export interface IssueColumns {
  readonly title?: string
  readonly description?: string | null
  readonly state?: 'opened' | 'closed'
  readonly confidential?: boolean
  readonly issue_type?: string
  readonly discussion_locked?: boolean | null
  readonly due_date?: string | null
  readonly milestone_id?: number | null
  readonly epic_id?: number | null
  readonly weight?: number | null
  readonly health_status?: string | null
  readonly closed_by_id?: number | null
  readonly moved_to_id?: number | null
  readonly duplicated_to_id?: number | null
  readonly last_edited_by_id?: number
}

const casts: Readonly<Record<string, RawBuilder<unknown>>> = { due_date: sql`::date` }

/** `updatedAt`: null for now. What is written to the texts is an edit. */
export async function update(
  tx: Tx,
  id: number,
  columns: IssueColumns,
  updatedAt: Date | null = null,
): Promise<void> {
  const sets = Object.entries(columns).map(
    ([column, value]) => sql`${sql.ref(column)} = ${value as unknown}${casts[column] ?? sql``}`,
  )
  if (columns.state !== undefined)
    sets.push(sql`closed_at = ${columns.state === 'closed' ? sql`now()` : sql`null`}`)
  if (columns.last_edited_by_id !== undefined) sets.push(sql`last_edited_at = now()`)
  sets.push(sql`updated_at = coalesce(${updatedAt}::timestamptz, now())`)
  await sql`update issues i set ${sql.join(sets)} where i.id = ${id}`.execute(tx)
}

/** An issue as it is stored, locked until the transaction ends; undefined when it is gone. */
export interface StoredIssue {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly author_id: number | null
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly issue_type: string
  readonly confidential: boolean
  readonly discussion_locked: boolean | null
  readonly due_date: string | null
  readonly milestone_id: number | null
  readonly epic_id: number | null
  readonly weight: number | null
  readonly health_status: string | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly moved_to_id: number | null
  readonly assignee_ids: readonly number[]
}

export async function lock(tx: Tx, id: number): Promise<StoredIssue | undefined> {
  const { rows } = await sql<StoredIssue>`
    select i.id, i.iid, i.project_id, i.author_id, i.title, i.description, i.state, i.issue_type, i.confidential,
      i.discussion_locked, i.due_date, i.milestone_id, i.epic_id, i.weight, i.health_status, i.time_estimate,
      i.total_time_spent, i.moved_to_id,
      coalesce((
        select json_agg(a.user_id order by a.user_id) from issue_assignees a where a.issue_id = i.id), '[]') as assignee_ids
    from issues i where i.id = ${id} for update of i`.execute(tx)
  return rows[0]
}

/** Of these users those who can be assigned: who see the project and may sign in. */
export async function assignable(tx: Tx, projectId: number, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    select u.id from users u, projects p join namespaces n on n.id = p.namespace_id
    where p.id = ${projectId} and u.id = any (${[...ids]}::bigint[]) and u.state = 'active' and u.kind <> 'internal'
      and (p.visibility = 20 or p.visibility = 10 and not u.external or u.admin
        or exists (select from effective_memberships(n.traversal_ids, p.id) m
          where m.user_id = u.id and m.access_level >= 10))
    order by u.id`.execute(tx)
  return rows.map(({ id }) => id)
}

export async function setAssignees(tx: Tx, id: number, userIds: readonly number[]): Promise<void> {
  await sql`
    with gone as (
      delete from issue_assignees a where a.issue_id = ${id} and a.user_id <> all (${[...userIds]}::bigint[]))
    insert into issue_assignees (issue_id, user_id)
    select ${id}::bigint, u.id from unnest(${[...userIds]}::bigint[]) u (id) on conflict do nothing`.execute(
    tx,
  )
}

/** The milestone, if it can be one of an issue of this project. */
export async function milestoneOf(
  tx: Tx,
  projectId: number,
  line: readonly number[],
  milestoneId: number,
): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    select m.id from milestones m
    where m.id = ${milestoneId} and (m.project_id = ${projectId} or m.namespace_id = any (${[...line]}::bigint[]))
    for key share`.execute(tx)
  return rows[0]?.id ?? null
}

/** An issue for its answer; undefined where the caller may not see it (any more). */
export async function find(
  db: Reader,
  actor: Actor,
  id: number,
  options: { readonly details?: boolean } = {},
): Promise<IssueRow | undefined> {
  const { rows } = await sql<{ row: IssueRow }>`
    select to_json(found) as row from (
      select ${issueColumns(options)}, ${isSubscribed} as subscribed
      from ${actorRow(actor)} cross join ${issueSource} where i.id = ${id} and ${issueVisibleAnywhere}) found`.execute(
    db,
  )
  return rows[0]?.row
}

/** The id of an issue by its number; 404 where the caller sees none of that number. */
export async function visibleId(db: Reader, actor: Actor, projectId: number, iid: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select i.id from ${actorRow(actor)} cross join issues i join projects p on p.id = i.project_id
    where i.project_id = ${projectId} and i.iid = ${iid} and ${issueVisibleAnywhere}`.execute(db)
  if (rows[0] === undefined) throw recordNotFound()
  return rows[0].id
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from issues i where i.id = ${id}`.execute(tx)
}
