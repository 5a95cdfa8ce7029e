import type { RawBuilder } from 'kysely'
import { userReadsRequests } from '../../access/index.ts'
import { isDatabaseError, nextIid, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from './rows.ts'
import type { NewVersion } from './versions/committers.ts'

export interface NewMergeRequest {
  readonly projectId: number
  readonly sourceProjectId: number
  readonly sourceBranch: string
  readonly targetBranch: string
  readonly title: string
  readonly description: string | null
  readonly authorId: number
  readonly squash: boolean
  readonly removeSourceBranch: boolean | null
  readonly allowCollaboration: boolean
  readonly mergeAfter: Date | null
  readonly version: NewVersion
}

/** Another open request brings the same branch to the same target. */
export class AlreadyOpen extends Error {}

function orAlreadyOpen(error: unknown): never {
  if (isDatabaseError(error) && error.constraint === 'merge_requests_open') throw new AlreadyOpen()
  throw error
}

/** Throws `AlreadyOpen`. */
export async function insert(tx: Tx, request: NewMergeRequest): Promise<{ id: number; iid: number }> {
  const { version } = request
  const { rows } = await sql<{ id: number; iid: number }>`
    with counter as (${nextIid({ projectId: request.projectId }, 'merge_request')})
    insert into merge_requests (project_id, iid, source_project_id, source_branch, target_branch, title, description,
      author_id, squash, remove_source_branch, allow_collaboration, merge_after, audience, head_sha,
      base_sha, start_sha, prepared_at)
    select p.id, counter.iid, ${request.sourceProjectId}, ${request.sourceBranch}, ${request.targetBranch}, ${request.title},
      ${request.description}, ${request.authorId}, ${request.squash}, ${request.removeSourceBranch},
      ${request.allowCollaboration}, ${request.mergeAfter},
      merge_request_audience(p.visibility, p.feature_levels), ${version.head}, ${version.base ?? null}, ${version.start},
      now()
    from projects p, counter where p.id = ${request.projectId} returning id, iid`
    .execute(tx)
    .catch(orAlreadyOpen)
  const made = rows[0]!
  await addVersion(tx, made.id, version)
  return made
}

/** A new version, which is the current one from now on. Whether it can be merged is to be found out. */
export async function addVersion(tx: Tx, id: number, version: NewVersion): Promise<void> {
  await sql`
    with version as (
      insert into merge_request_versions (merge_request_id, head_sha, base_sha, start_sha, state, real_size,
        commits_count, commits, patch_id_sha)
      values (${id}, ${version.head}, ${version.base ?? null}, ${version.start}, ${version.state}, ${version.size},
        ${version.commitsCount}, ${[...version.commits]}, ${version.patchId ?? null})
      returning id)
    update merge_requests m set version_id = version.id, head_sha = ${version.head}, base_sha = ${version.base ?? null},
      start_sha = ${version.start}, source_gone = false, merge_status = 'unchecked', checked_head = null,
      checked_target = null, committer_ids = ${[...version.committerIds]}::bigint[],
      unsigned_commits = ${version.unsigned}, updated_at = now()
    from version where m.id = ${id}`.execute(tx)
}

/** The open request for these branches. */
export async function findOpen(
  db: Reader,
  branches: { sourceProjectId: number; sourceBranch: string; projectId: number; targetBranch: string },
): Promise<{ id: number; iid: number } | undefined> {
  const { rows } = await sql<{ id: number; iid: number }>`
    select m.id, m.iid from merge_requests m
    where m.source_project_id = ${branches.sourceProjectId} and m.source_branch = ${branches.sourceBranch}
      and m.project_id = ${branches.projectId} and m.target_branch = ${branches.targetBranch}
      and m.state in ('opened', 'locked')`.execute(db)
  return rows[0]
}

/** As it is now. */
export async function find(db: Reader, id: number): Promise<MergeRequestRow | undefined> {
  const { rows } = await sql<{ row: MergeRequestRow }>`
    select to_json(r) as row from (
      select ${mergeRequestColumns} from ${mergeRequestSource} where m.id = ${id}) r`.execute(db)
  return rows[0]?.row
}

/** Locks a request, so that what is decided from it still holds when it is written. */
export async function lock(tx: Tx, id: number): Promise<MergeRequestRow | undefined> {
  await sql`select m.id from merge_requests m where m.id = ${id} for no key update`.execute(tx)
  return find(tx, id)
}

export interface Changes {
  readonly title?: string
  readonly description?: string | null
  readonly target_branch?: string
  readonly squash?: boolean
  readonly remove_source_branch?: boolean | null
  readonly allow_collaboration?: boolean
  readonly discussion_locked?: boolean | null
  readonly merge_after?: Date | null
  readonly milestone_id?: number | null
  readonly state?: 'opened' | 'closed'
  readonly closed_at?: Date | null
  readonly closed_by_id?: number | null
  readonly time_estimate?: number
  readonly time_spent?: number
  readonly auto_merge?: boolean
  readonly merge_params?: string
  readonly merge_user_id?: number | null
  readonly merge_error?: string | null
}

/** Throws `AlreadyOpen` when it is reopened, or aimed anew, beside another one. */
export async function change(db: Tx | Writer, id: number, changes: Changes): Promise<void> {
  const assignments = Object.entries(changes).flatMap(([column, value]): RawBuilder<unknown>[] =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`],
  )
  await sql`
    update merge_requests set ${sql.join([...assignments, sql`updated_at = now()`])} where id = ${id}`
    .execute(db)
    .catch(orAlreadyOpen)
}

export async function touch(db: Tx | Writer, id: number): Promise<void> {
  await change(db, id, {})
}

/** Its number is not given again. */
export async function remove(tx: Tx, id: number): Promise<void> {
  await sql`delete from merge_requests_closing_issues x where x.merge_request_id = ${id}`.execute(tx)
  await sql`delete from merge_requests m where m.id = ${id}`.execute(tx)
}

type PeopleTable = 'merge_request_assignees' | 'merge_request_reviewers'

/** Makes these users, and no others, those of the request; who stays keeps his place. Tells who is new and who is gone. */
export async function setPeople(
  tx: Tx,
  table: PeopleTable,
  id: number,
  userIds: readonly number[],
): Promise<{ added: number[]; removed: number[] }> {
  const removed = await sql<{ user_id: number }>`
    delete from ${sql.table(table)} x
    where x.merge_request_id = ${id} and x.user_id <> all (${[...userIds]}::bigint[]) returning x.user_id`.execute(
    tx,
  )
  const added = await sql<{ user_id: number }>`
    insert into ${sql.table(table)} (merge_request_id, user_id, created_at)
    select ${id}, u.id, clock_timestamp() + make_interval(secs => 0.001 * wanted.place)
    from unnest(${[...userIds]}::bigint[]) with ordinality wanted (id, place) join users u on u.id = wanted.id
    order by wanted.place
    on conflict do nothing returning user_id`.execute(tx)
  const ids = ({ rows }: { rows: { user_id: number }[] }): number[] => rows.map(({ user_id }) => user_id)
  return { added: ids(added), removed: ids(removed) }
}

/** Of these users those who may be asked: they see the requests of the project. */
export async function readersAmong(
  db: Reader,
  projectId: number,
  userIds: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select u.id
    from unnest(${[...userIds]}::bigint[]) with ordinality wanted (id, place) join users u on u.id = wanted.id
      join projects p on p.id = ${projectId} join namespaces n on n.id = p.namespace_id
    where u.state = 'active' and ${userReadsRequests}
    order by wanted.place`.execute(db)
  return [...new Set(rows.map(({ id }) => id))]
}

/** Whether two projects are of one network of forks. */
export async function areRelated(db: Reader, one: number, other: number): Promise<boolean> {
  const { rows } = await sql<{ related: boolean }>`
    select count(distinct coalesce(p.fork_network, p.id)) = 1 as related
    from projects p where p.id in (${one}, ${other})`.execute(db)
  return rows[0]!.related
}

/** Who writes commits as this user; undefined where there is no such user. */
export async function findCommitter(
  db: Reader,
  userId: number | null,
): Promise<
  { id: number; username: string; name: string; email: string; commitEmail: string | null } | undefined
> {
  if (userId === null) return undefined
  return db
    .selectFrom('users as u')
    .select(['u.id', 'u.username', 'u.name', 'u.email', 'u.commit_email as commitEmail'])
    .where('u.id', '=', userId)
    .executeTakeFirst()
}
