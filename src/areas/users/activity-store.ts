import { actorRow, todoReadable, userOf, type Actor } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { countedRows, page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'

export interface Waiting {
  readonly assigned_issues: number
  readonly assigned_merge_requests: number
  readonly review_requested_merge_requests: number
  readonly todos: number
}

/** What is open and waits for somebody. */
export async function waiting(db: Reader, actor: Actor): Promise<Waiting> {
  const { id: userId } = userOf(actor)
  const { rows } = await sql<Waiting>`
    select
      (select count(*)::int from issue_assignees a join issues i on i.id = a.issue_id
        where a.user_id = ${userId} and i.state = 'opened') as assigned_issues,
      (select count(*)::int from merge_request_assignees a join merge_requests m on m.id = a.merge_request_id
        where a.user_id = ${userId} and m.state = 'opened') as assigned_merge_requests,
      (select count(*)::int from merge_request_reviewers r join merge_requests m on m.id = r.merge_request_id
        where r.user_id = ${userId} and m.state = 'opened') as review_requested_merge_requests,
      (select count(*)::int from (
        select from ${actorRow(actor)} cross join todos t left join notes w on w.id = t.note_id
          left join discussions said on said.id = w.discussion_id
        where t.user_id = ${userId} and t.state = 'pending' and ${todoReadable} ${countedRows}) t) as todos`.execute(
    db,
  )
  return rows[0]!
}

export interface Associations {
  readonly groups_count: number
  readonly projects_count: number
  readonly issues_count: number
  readonly merge_requests_count: number
}

/** Direct memberships, and what somebody has opened. */
export async function associations(db: Reader, userId: number): Promise<Associations> {
  const { rows } = await sql<Associations>`
    select
      (select count(*)::int from members m where m.user_id = ${userId} and m.namespace_id is not null) as groups_count,
      (select count(*)::int from members m where m.user_id = ${userId} and m.project_id is not null) as projects_count,
      (select count(*)::int from issues i where i.author_id = ${userId}) as issues_count,
      (select count(*)::int from merge_requests m where m.author_id = ${userId}) as merge_requests_count`.execute(
    db,
  )
  return rows[0]!
}

export interface ActivityRow {
  readonly username: string
  readonly last_activity_on: string
  readonly last_activity_at: string
}

/** Who was active since a day, the longest ago first. */
export function lastActive(from: string | null | undefined, input: PageInput): Read<ActivityRow> {
  const first = from == null ? sql`(now() - interval '6 months')::date` : sql`${from}::date`
  return page(
    {
      columns: sql`
        u.username, u.last_activity_on, u.last_activity_on::timestamp at time zone 'utc' as last_activity_at`,
      from: sql`from users u where u.last_activity_on >= ${first}`,
      order: sql`u.last_activity_on, u.id`,
    },
    input,
  )
}

export interface PreferencesRow {
  readonly id: number
  readonly user_id: number
  readonly view_diffs_file_by_file: boolean
  readonly show_whitespace_in_diffs: boolean
  readonly pass_user_identities_to_ci_jwt: boolean
}

export async function preferences(db: Reader, userId: number): Promise<PreferencesRow> {
  const { rows } = await sql<PreferencesRow>`
    select u.id, u.id as user_id,
      coalesce(u.profile -> 'view_diffs_file_by_file' = 'true', false) as view_diffs_file_by_file,
      coalesce(u.profile -> 'show_whitespace_in_diffs' = 'true', true) as show_whitespace_in_diffs,
      coalesce(u.profile -> 'pass_user_identities_to_ci_jwt' = 'true', false) as pass_user_identities_to_ci_jwt
    from users u where u.id = ${userId}`.execute(db)
  return rows[0]!
}

/** Keeps what was said; the rest stays. */
export async function prefer(
  tx: Tx,
  userId: number,
  {
    view_diffs_file_by_file: byFile,
    show_whitespace_in_diffs: whitespace,
    pass_user_identities_to_ci_jwt: identities,
  }: Partial<Record<keyof Omit<PreferencesRow, 'id' | 'user_id'>, boolean | undefined>>,
): Promise<void> {
  const said = {
    view_diffs_file_by_file: byFile,
    show_whitespace_in_diffs: whitespace,
    pass_user_identities_to_ci_jwt: identities,
  }
  await sql`
    update users set profile = profile || ${JSON.stringify(said)}::jsonb where id = ${userId}`.execute(tx)
}
