import type { RawBuilder } from 'kysely'
import { activityVisible, memberProjects } from '../../access/index.ts'
import { isDatabaseError, sql, type Writer } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { Action, ActivityRow } from './entities.ts'

export const targets = ['issue', 'milestone', 'merge_request', 'note', 'project', 'snippet', 'user'] as const

export interface Filter {
  readonly action?: Action | undefined
  readonly target_type?: (typeof targets)[number] | undefined
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly sort: 'asc' | 'desc'
}

/** Whose: what the caller did, or what was done in his projects; what one user did; what was done in the subject. */
export type Whose = 'own' | 'of own projects' | 'of project' | { readonly user: string }

const columns = sql`
  a.id, a.project_id, a.action, a.kind, a.target_id, a.details, a.created_at, ${basicUserJson('u')} as author,
  coalesce(issue.iid, request.iid, (a.details ->> 'iid')::bigint) as target_iid,
  coalesce(issue.title, request.title, snippet.title, a.details ->> 'title', project.name) as title,
  (select json_build_object('id', n.id, 'body', n.body, 'created_at', n.created_at, 'updated_at', n.updated_at,
      'resolvable', n.resolvable, 'internal', d.internal,
      'type', case when d.position is not null then 'DiffNote' when not d.individual then 'DiscussionNote' end)
    from notes n join discussions d on d.id = n.discussion_id where n.id = a.note_id) as note`

/** What is shown besides is asked for the rows of a page alone. */
const from = sql`
  activities a join users u on u.id = a.author_id
  left join issues issue on a.kind = 'Issue' and issue.id = a.target_id
  left join merge_requests request on a.kind = 'MergeRequest' and request.id = a.target_id
  left join snippets snippet on a.kind = 'Snippet' and snippet.id = a.target_id
  left join projects project on a.kind = 'Project' and project.id = a.project_id`

export function list(whose: Whose, filter: Filter, input: PageInput): Read<ActivityRow> {
  const conditions = [of(whose), activityVisible]
  const add = <T>(value: T | undefined, condition: (value: T) => RawBuilder<unknown>): void => {
    if (value !== undefined) conditions.push(condition(value))
  }
  add(filter.action, (action) => sql`a.action = ${action}`)
  add(filter.target_type, about)
  add(filter.before, (day) => sql`a.created_at < (${day}::date)::timestamp at time zone 'utc'`)
  add(filter.after, (day) => sql`a.created_at >= (${day}::date + 1)::timestamp at time zone 'utc'`)
  const direction = sql.raw(filter.sort)
  return page(
    {
      columns,
      from: sql`from ${from} where ${sql.join(conditions, sql` and `)}`,
      order: sql`a.created_at ${direction}, a.id ${direction}`,
    },
    input,
  )
}

function of(whose: Whose): RawBuilder<unknown> {
  if (whose === 'own') return sql`a.author_id = actor.id`
  if (whose === 'of own projects') return sql`a.project_id in (${memberProjects()})`
  if (whose === 'of project') return sql`a.project_id = subject.id`
  const { user } = whose
  const named = /^\d{1,15}$/.test(user)
    ? sql`named.id = ${Number(user)}`
    : sql`lower(named.username) = ${user.toLowerCase()}`
  return sql`a.author_id = (
    select named.id from users named
    where ${named} and (not named.private_profile or named.id = actor.id or actor.admin))`
}

function about(target: (typeof targets)[number]): RawBuilder<unknown> {
  const kinds = {
    issue: 'Issue',
    merge_request: 'MergeRequest',
    milestone: 'Milestone',
    snippet: 'Snippet',
    project: 'Project',
  }
  if (target === 'note') return sql`a.note_id is not null`
  if (target === 'user') return sql`false`
  return sql`a.note_id is null and a.kind = ${kinds[target]}`
}

export interface NewActivity {
  readonly key: string
  readonly authorId: number | null
  readonly projectId: number | null
  readonly action: Action
  readonly kind: string
  readonly targetId?: number | null
  readonly noteId?: number
  readonly details?: object
  readonly createdAt: Date
}

/** Of PostgreSQL. */
const foreignKeyViolation = '23503'

/** Once for each key. Of who or what is gone meanwhile nothing is listed. */
export async function add(db: Writer, activity: NewActivity): Promise<void> {
  const { key, authorId, projectId, action, kind, targetId = null, noteId, details, createdAt } = activity
  await sql`
    insert into activities (key, author_id, project_id, action, kind, target_id, note_id, details, created_at)
    select ${key}, u.id, p.id, ${action}, ${kind}, ${targetId}::bigint, n.id,
      ${details === undefined ? null : JSON.stringify(details)}::jsonb, ${createdAt}
    from users u join projects p on p.id = ${projectId}::bigint
      left join notes n on n.id = ${noteId ?? null}::bigint
    where u.id = ${authorId}::bigint and (${noteId === undefined} or n.id is not null)
    on conflict (key) do nothing`
    .execute(db)
    .catch((error: unknown) => {
      // It went while this was written.
      if (!isDatabaseError(error) || error.code !== foreignKeyViolation) throw error
    })
}
