import { isWriter, type AccessEntry } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'

/** Where entries are to hold, and who asks for them. */
export interface EntryPlace {
  readonly projectId: number
  readonly callerId: number | null
}

/**
 * Refuses entries that name whom a project does not know: users must be its members, groups have been let in as
 * Developers at least, deploy keys may push and belong to a member. Gives the entries with what they are to the caller.
 * `kindOf`: `Push`, `Merge`, `Unprotect`, `Create`, as the refusals begin.
 */
export async function checkTargets<Entry extends AccessEntry>(
  tx: Tx,
  place: EntryPlace,
  entries: readonly Entry[],
  kindOf: (entry: Entry) => string,
): Promise<Entry[]> {
  const users = await usersAmong(tx, place, named(entries, 'userId'))
  const keys = await keysAmong(tx, place, named(entries, 'deployKeyId'))
  const groups = await groupsAmong(tx, place, named(entries, 'groupId'))
  const problems = entries.flatMap((entry) => {
    const problem = userProblem(users, entry) ?? keyProblem(keys, entry) ?? groupProblem(groups, entry)
    return problem === undefined ? [] : [`${kindOf(entry)} access levels ${problem}`]
  })
  if (problems.length > 0) throw unprocessable([...new Set(problems)])
  return entries.map((entry) => {
    if (entry.groupId === null) return entry
    return { ...entry, throughGroup: groups.get(entry.groupId)?.holds_caller === true }
  })
}

function named(entries: readonly AccessEntry[], key: 'userId' | 'deployKeyId' | 'groupId'): number[] {
  return entries.flatMap((entry) => entry[key] ?? [])
}

type Found<Row> = ReadonlyMap<number, Row>

function userProblem(users: Found<UserRow>, { userId }: AccessEntry): string | undefined {
  if (userId === null) return undefined
  const user = users.get(userId)
  if (user === undefined) return "user can't be blank"
  return user.member ? undefined : 'user is not a member of the project'
}

function keyProblem(keys: Found<KeyRow>, { deployKeyId }: AccessEntry): string | undefined {
  if (deployKeyId === null) return undefined
  const key = keys.get(deployKeyId)
  if (key === undefined) return 'deploy key is not enabled for this project'
  return key.admin || key.member ? undefined : 'deploy key owner is not a project member'
}

function groupProblem(groups: Found<GroupRow>, { groupId }: AccessEntry): string | undefined {
  if (groupId === null) return undefined
  const group = groups.get(groupId)
  if (group === undefined) return "group can't be blank"
  return isWriter(group.share, false) ? undefined : 'group does not have access to the project'
}

interface UserRow {
  readonly id: number
  readonly member: boolean
}

interface KeyRow {
  readonly id: number
  readonly admin: boolean
  readonly member: boolean
}

interface GroupRow {
  readonly id: number
  readonly share: number | null
  readonly holds_caller: boolean
}

async function usersAmong(tx: Tx, { projectId }: EntryPlace, ids: number[]): Promise<Found<UserRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<UserRow>`
    select u.id, exists (
      select from projects p join namespaces n on n.id = p.namespace_id,
        effective_memberships(n.traversal_ids, p.id) m
      where p.id = ${projectId} and m.user_id = u.id) as member
    from users u where u.id = any (${ids}::bigint[])`.execute(tx)
  return byId(rows)
}

/** Only those that may push to the project. */
async function keysAmong(tx: Tx, { projectId }: EntryPlace, ids: number[]): Promise<Found<KeyRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<KeyRow>`
    select d.deploy_key_id as id, coalesce(u.admin, false) as admin, exists (
      select from projects p join namespaces n on n.id = p.namespace_id,
        effective_memberships(n.traversal_ids, p.id) m
      where p.id = d.project_id and m.user_id = u.id) as member
    from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id left join users u on u.id = k.creator_id
    where d.project_id = ${projectId} and d.can_push and d.deploy_key_id = any (${ids}::bigint[])`.execute(tx)
  return byId(rows)
}

async function groupsAmong(tx: Tx, place: EntryPlace, ids: number[]): Promise<Found<GroupRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<GroupRow>`
    select n.id, (
        select max(s.access_level) from project_shares s
        where s.project_id = ${place.projectId} and s.group_id = n.id
          and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)) as share,
      admits_through_group(${place.projectId}, n.id, ${place.callerId}) as holds_caller
    from namespaces n where n.kind = 'group' and n.id = any (${ids}::bigint[])`.execute(tx)
  return byId(rows)
}

function byId<Row extends { readonly id: number }>(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}
