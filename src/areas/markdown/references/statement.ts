import type { RawBuilder } from 'kysely'
import {
  actorRow,
  epicVisible,
  group,
  isAdmitted,
  issueVisible,
  projectFromRow,
  projectSnippetVisible,
  subjectRequestsReadable,
  visiblePlaces,
  type Actor,
  type GroupSubject,
  type ProjectSubject,
} from '../../../access/index.ts'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import type { ReferenceKind } from '../../../rendering/index.ts'

/** A candidate, as it is looked for. */
export interface Wanted {
  readonly key: string
  readonly kind: ReferenceKind
  /** In lower case: of the project or group where it would be, or of what it would name itself. */
  readonly path: string
  readonly id: string
  readonly number: number | null
}

/** What a candidate names. Whether the reader may see such things in the place at all is still to be decided. */
export interface Named {
  readonly key: string
  /** Id of the project, or of the group. */
  readonly project: number | null
  readonly group: number | null
  /** The number, title or SHA of the thing in its place. */
  readonly name: string
  readonly title: string | null
  /** Full path of the group that it belongs to, where the place has inherited it. */
  readonly from: string | null
}

export interface Answer {
  readonly projects: ReadonlyMap<number, ProjectSubject>
  readonly groups: ReadonlyMap<number, GroupSubject>
  readonly named: readonly Named[]
}

/** `wanted w` in the places `subject` that the reader sees, with what the conditions of access use. */
function within(places: 'project_places' | 'group_places'): RawBuilder<unknown> {
  return sql`
    from wanted w join ${sql.table(places)} subject on subject.asked = w.path
    cross join lateral (select subject.role) membership cross join actor`
}

const inProject = within('project_places')
const inGroup = within('group_places')
const ofProject = sql`subject.id as project, null::bigint as group`
const ofGroup = sql`null::bigint as project, subject.id as group`

/** Labels and milestones of a place: its own before those of the groups above it. */
function inherited(table: 'labels' | 'milestones', own: RawBuilder<unknown>): RawBuilder<unknown> {
  const number = table === 'labels' ? sql`x.id` : sql`x.iid`
  const which = sql`(x.title = w.id or ${number} = w.number)`
  return sql`
    cross join lateral (
      select x.*, home.full_path as home
      from (
        select x.* from ${sql.table(table)} x where ${own} and ${which}
        union
        select x.* from ${sql.table(table)} x where x.namespace_id = any (subject.line) and ${which}) x
      left join namespaces home on home.id = x.namespace_id
      order by coalesce(${number} = w.number, false) desc, x.namespace_id is not null, length(home.full_path) desc
      limit 1) x`
}

/** One select for each way in which a candidate can name something; together they are one statement. */
const selects: readonly RawBuilder<unknown>[] = [
  sql`
    select w.key, null::bigint as project, null::bigint as group, u.username as name, u.name as title,
      null::text as from
    from wanted w join users u on lower(u.username) = w.path where w.kind = 'user'`,
  // A group is mentioned as a user is.
  sql`select w.key, ${ofGroup}, subject.full_path, subject.name, null ${inGroup} where w.kind = 'user'`,
  sql`select w.key, ${ofProject}, subject.full_path, subject.name, null ${inProject} where w.kind = 'project'`,
  // Which commits there are the repository knows.
  sql`select w.key, ${ofProject}, w.id, null, null ${inProject} where w.kind = 'commit'`,
  sql`
    select w.key, ${ofProject}, i.iid::text, i.title, null
    ${inProject} join issues i on i.project_id = subject.id and i.iid = w.number
    where w.kind = 'issue' and ${issueVisible}`,
  sql`
    select w.key, ${ofProject}, m.iid::text, m.title, null
    ${inProject} join merge_requests m on m.project_id = subject.id and m.iid = w.number
    where w.kind = 'merge_request' and ${subjectRequestsReadable}`,
  sql`
    select w.key, ${ofProject}, s.id::text, s.title, null
    ${inProject} join snippets s on s.id = w.number
    where w.kind = 'snippet' and ${projectSnippetVisible}`,
  sql`
    select w.key, ${ofGroup}, e.iid::text, e.title, null
    ${inGroup} join epics e on e.namespace_id = subject.id and e.iid = w.number
    where w.kind = 'epic' and ${epicVisible}`,
  sql`
    select w.key, ${ofProject}, x.title, x.description, null
    ${inProject} ${inherited('labels', sql`x.project_id = subject.id`)} where w.kind = 'label'`,
  sql`
    select w.key, ${ofGroup}, x.title, x.description, null
    ${inGroup} ${inherited('labels', sql`false`)} where w.kind = 'label'`,
  sql`
    select w.key, ${ofProject}, x.iid::text, x.title, x.home
    ${inProject} ${inherited('milestones', sql`x.project_id = subject.id`)} where w.kind = 'milestone'`,
  sql`
    select w.key, ${ofGroup}, x.iid::text, x.title, x.home
    ${inGroup} ${inherited('milestones', sql`false`)} where w.kind = 'milestone'`,
]

const kindsOf = {
  projects: sql`('project', 'commit', 'issue', 'merge_request', 'snippet', 'label', 'milestone')`,
  groups: sql`('user', 'epic', 'label', 'milestone')`,
}

interface PlaceRow extends Record<string, unknown> {
  readonly id: number
  readonly role: number
}

/** Everything that a text may refer to, as its reader finds it: one statement, however much it is. */
export async function ask(db: Reader, actor: Actor, wanted: readonly Wanted[]): Promise<Answer> {
  const paths = (kinds: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`select distinct w.path from wanted w where w.kind in ${kinds}`
  const { rows } = await sql<{
    projects: PlaceRow[] | null
    groups: PlaceRow[] | null
    named: Named[] | null
  }>`
    with actor as (select * from ${actorRow(actor)}),
      wanted as (
        select * from json_to_recordset(${JSON.stringify(wanted)}::json)
          w (key text, kind text, path text, id text, number bigint)),
      project_places as materialized (${visiblePlaces('project', paths(kindsOf.projects))}),
      group_places as materialized (${visiblePlaces('group', paths(kindsOf.groups))}),
      named as (${sql.join(selects, sql` union all `)})
    select (select json_agg(p) from project_places p) as projects, (select json_agg(g) from group_places g) as groups,
      (select json_agg(named) from named) as named`.execute(db)
  const { projects, groups, named } = rows[0]!
  const open = await admitted(db, actor, projects?.map((row) => projectFromRow(row, row.role)) ?? [])
  return {
    projects: open,
    groups: new Map(groups?.map((row) => [row.id, group.subject(row, row.role)])),
    named: (named ?? []).filter(({ project }) => project === null || open.has(project)),
  }
}

/** Without those that the policy server keeps from the reader. */
async function admitted(
  db: Reader,
  actor: Actor,
  projects: readonly ProjectSubject[],
): Promise<Map<number, ProjectSubject>> {
  const verdicts = await Promise.all(projects.map((project) => isAdmitted(db, actor, project)))
  return new Map(projects.filter((_, at) => verdicts[at]).map((project) => [project.id, project]))
}
