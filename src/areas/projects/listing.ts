import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  FeatureLevel,
  groupActive,
  memberProjects,
  projectVisible,
  Role,
  userCalled,
  Visibility,
  visibleProjectParts,
  type VisibilityName,
} from '../../access/index.ts'
import {
  mergedPage,
  mergedRows,
  page,
  refuseDeepOffset,
  wantsKeyset,
  type MergedSource,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'
import { attributesColumn, attributesFilter, type AttributeFilter } from '../custom-attributes/index.ts'
import { markedOn } from './marked.ts'
import { projectColumns, projectJoins, type ProjectRow } from './rows.ts'
import { statisticsColumn } from './statistics.ts'

/** What a list of projects may be narrowed by; the parameters are declared in `list-params.ts`. */
export interface ProjectFilter extends AttributeFilter {
  readonly archived?: boolean | undefined
  readonly active?: boolean | undefined
  readonly visibility?: VisibilityName | undefined
  readonly search?: string | undefined
  readonly search_namespaces?: boolean | undefined
  readonly owned?: boolean | undefined
  readonly membership?: boolean | undefined
  readonly min_access_level?: number | undefined
  readonly with_issues_enabled?: boolean | undefined
  readonly with_merge_requests_enabled?: boolean | undefined
  readonly id_after?: number | undefined
  readonly id_before?: number | undefined
  readonly last_activity_after?: Date | undefined
  readonly last_activity_before?: Date | undefined
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly topic?: readonly string[] | undefined
  readonly topic_id?: number | undefined
  readonly repository_storage?: string | undefined
  readonly starred?: boolean | undefined
  readonly with_programming_language?: string | undefined
  readonly imported?: boolean | undefined
  readonly marked_for_deletion_on?: Date | undefined
  readonly statistics?: boolean | undefined
  readonly order_by: ProjectOrder
  readonly sort: 'asc' | 'desc'
  /** Ids of what another index has found; their order is that of the list. */
  readonly found?: readonly number[]
}

/** By what was measured last, for administrators. */
const sizeOrders = ['repository_size', 'storage_size', 'packages_size', 'wiki_size'] as const

export const projectOrders = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'last_activity_at',
  'similarity',
  'star_count',
  ...sizeOrders,
] as const
export type ProjectOrder = (typeof projectOrders)[number]

/** A row of a list; with keyset pagination it tells whether another one follows. */
export type ListedProject = ProjectRow & { readonly more?: boolean }

type Condition = RawBuilder<unknown>

/**
 * All projects that the caller may see, one statement. Who asks for those he is a member of gets them from his
 * memberships; else the list is merged from what each visibility shows him.
 */
export function visibleProjects(params: AllFilter, input: PageInput): Read<ListedProject> {
  return inOrder(params, (ordered) => visibleInOrder(ordered, input))
}

type AllFilter = ProjectFilter & { readonly pagination: string }

/** Others than administrators who ask for an order by sizes get the usual one: one of the two reads is run. */
function inOrder<Params extends ProjectFilter, Row>(
  params: Params,
  read: (params: Params) => Read<Row>,
): Read<Row> {
  checkPairing(params)
  const wanted = read(params)
  if (!isSize(params.order_by)) return wanted
  const usual = read({ ...params, order_by: 'created_at' })
  return { ...wanted, sql: sql`(case when actor.admin then ${wanted.sql} else ${usual.sql} end)` }
}

function isSize(order: ProjectOrder): order is (typeof sizeOrders)[number] {
  return (sizeOrders as readonly string[]).includes(order)
}

function visibleInOrder(params: AllFilter, input: PageInput): Read<ListedProject> {
  const source: MergedSource = {
    columns: sql`${columnsOf(params)}, place.more`,
    table: sql`projects p`,
    id: sql`p.id`,
    ...visibleProjectParts(levelAsked(params)),
    filter: filterOf(params),
    key: orderKey(params),
    descending: isDescending(params),
    detail: sql`from projects p ${projectJoins} where p.id = place.id`,
  }
  if (wantsKeyset(params, params.order_by === 'id')) return mergedRows(source, input)
  refuseDeepOffset(input, 'Project')
  return mergedPage(source, input)
}

const columnsOf = ({ with_custom_attributes: wanted, statistics }: ProjectFilter): RawBuilder<unknown> => sql`
  ${projectColumns}${attributesColumn('project', sql`p.id`, wanted)}
  ${statistics === true ? sql`, ${statisticsColumn}` : sql``}`

/** The level that the caller must have in what is listed; undefined: he only has to see it. */
function levelAsked({ owned, membership, min_access_level: minimum }: ProjectFilter): number | undefined {
  if (owned === true) return Role.owner
  return minimum ?? (membership === true ? Role.guest : undefined)
}

/** Projects that something else already picks, by a condition on `p` and `n`: those of a group or a user. */
export function projectsWhere(
  condition: Condition,
  params: ProjectFilter,
  input: PageInput,
): Read<ProjectRow> {
  const level = levelAsked(params)
  const member = level === undefined ? sql`` : sql`and p.id in (${memberProjects(level)})`
  return inOrder(params, (ordered) => {
    const direction = isDescending(ordered) ? sql`desc` : sql`asc`
    return page(
      {
        columns: columnsOf(ordered),
        from: sql`
          from projects p ${projectJoins}
          where ${condition} and ${projectVisible} ${member} and ${filterOf(ordered)}`,
        order: sql`${orderKey(ordered)} ${direction}, p.id ${direction}`,
      },
      input,
    )
  })
}

/** Those that a search finds: everywhere, or in the group that is the subject and below it; the newest first. */
export function searched(
  where: 'instance' | 'group',
  what: string | readonly number[],
  input: PageInput,
): Read<ProjectRow> {
  const found = typeof what === 'string' ? { search: what } : { found: what }
  const params = {
    ...found,
    search_namespaces: true,
    order_by: 'id',
    sort: typeof what === 'string' ? 'desc' : 'asc',
    pagination: 'legacy',
  } as const
  return where === 'instance'
    ? visibleProjects(params, input)
    : projectsWhere(sql`n.traversal_ids @> array[subject.id]`, params, input)
}

/** The rule of the reference: the filter works on the index that the order uses. */
function checkPairing({ updated_after, updated_before, order_by }: ProjectFilter): void {
  if ((updated_after ?? updated_before) !== undefined && order_by !== 'updated_at') {
    throw badRequest('`updated_at` filter and `updated_at` sorting must be paired')
  }
}

function orderKey({ order_by, search, found }: ProjectFilter): RawBuilder<unknown> {
  if (found !== undefined) return sql`array_position(${[...found]}::bigint[], p.id)`
  switch (order_by) {
    case 'name':
      return sql`lower(p.name)`
    case 'path':
      return sql`lower(p.path)`
    case 'created_at':
      return sql`p.created_at`
    case 'updated_at':
      return sql`p.updated_at`
    case 'last_activity_at':
      return sql`p.last_activity_at`
    case 'star_count':
      return sql`p.star_count`
    case 'similarity':
      return search === undefined || search === '' ? sql`p.id` : sql`similarity(p.name, ${search}::text)`
    case 'repository_size':
    case 'storage_size':
    case 'packages_size':
    case 'wiki_size':
      return sql.ref(`p.${order_by}`)
    default:
      return sql`p.id`
  }
}

/** The most similar come first, whatever was asked for. */
function isDescending({ order_by, sort }: ProjectFilter): boolean {
  return sort === 'desc' || order_by === 'similarity'
}

function filterOf(params: ProjectFilter): Condition {
  return sql.join(conditions(params), sql` and `)
}

function conditions(params: ProjectFilter): Condition[] {
  const all: Condition[] = [sql`true`]
  const add = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) all.push(condition(value))
  }
  add(params.archived, (archived) =>
    archived
      ? sql`(p.archived or p.marked_for_deletion_at is not null)`
      : sql`not p.archived and p.marked_for_deletion_at is null`,
  )
  add(params.active, (active) => (active ? activeProject : sql`not ${activeProject}`))
  add(params.visibility, (name) => sql`p.visibility = ${Visibility[name]}`)
  add(params.search === '' ? undefined : params.search, (text) =>
    matching(text, params.search_namespaces === true),
  )
  add(params.found, (found) => sql`p.id = any (${[...found]}::bigint[])`)
  if (params.with_issues_enabled === true) all.push(enabled('issues'))
  if (params.with_merge_requests_enabled === true) all.push(enabled('merge_requests'))
  add(params.with_programming_language === '' ? undefined : params.with_programming_language, writtenIn)
  if (params.starred === true) all.push(starredByCaller)
  if (params.imported === true) all.push(sql`p.import_type is not null`)
  add(params.marked_for_deletion_on, (day) => sql`${markedOn('p')} = ${day.toISOString().slice(0, 10)}::date`)
  add(params.id_after, (id) => sql`p.id > ${id}`)
  add(params.id_before, (id) => sql`p.id < ${id}`)
  add(params.last_activity_after, (time) => sql`p.last_activity_at >= ${time}`)
  add(params.last_activity_before, (time) => sql`p.last_activity_at <= ${time}`)
  add(params.updated_after, (time) => sql`p.updated_at >= ${time}`)
  add(params.updated_before, (time) => sql`p.updated_at <= ${time}`)
  add(params.topic?.length === 0 ? undefined : params.topic, withTopics)
  add(params.topic_id, withTopic)
  add(params.custom_attributes, (wanted) => attributesFilter('project', sql`p.id`, wanted))
  add(params.repository_storage, (storage) => sql`(actor.admin is not true or p.storage = ${storage})`)
  return all
}

const activeProject: Condition = sql`(
  not p.archived and p.marked_for_deletion_at is null
  and exists (select from namespaces n where n.id = p.namespace_id and ${groupActive}))`

/** A part of the name, path or description, whatever its case; with namespaces a part of the full path. */
function matching(text: string, namespaces: boolean): Condition {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const own = sql`p.name ilike ${pattern} or p.path ilike ${pattern} or p.description ilike ${pattern}`
  return namespaces ? sql`(${own} or p.full_path ilike ${pattern})` : sql`(${own})`
}

/** Names of languages have no case. */
function writtenIn(language: string): Condition {
  return sql`p.id in (
    select l.project_id from project_languages l where l.names @> array[${language.toLowerCase()}::text] offset 0)`
}

const starredByCaller: Condition = sql`p.id = any (array(
  select s.project_id from project_stars s where s.user_id = actor.id))`

/** What a user likes, by id or username; who hides his profile shows it to himself and to administrators. */
export function starredBy(user: string): Condition {
  return sql`p.id = any (array(
    select s.project_id from project_stars s join users u on u.id = s.user_id
    where ${userCalled(user)} and (not u.private_profile or u.id = actor.id or actor.admin)))`
}

/** Where a user has pushed, or opened an issue or merge request, within a year; by id or username, as `starredBy`. */
export function contributedTo(user: string): Condition {
  const since = sql`now() - interval '1 year'`
  return sql`p.id = any (array(
    select done.project_id from users u cross join lateral (
      select e.project_id from events e where e.user_id = u.id and e.created_at > ${since}
      union select i.project_id from issues i where i.author_id = u.id and i.created_at > ${since}
      union select m.project_id from merge_requests m where m.author_id = u.id and m.created_at > ${since}) done
    where ${userCalled(user)} and (not u.private_profile or u.id = actor.id or actor.admin)))`
}

/** Found by their index before the list is put in order: of a topic nobody knows how many projects have it. */
function withTopics(topics: readonly string[]): Condition {
  return sql`p.id in (select t.id from projects t where t.topics @> ${[...topics]}::text[] offset 0)`
}

function withTopic(id: number): Condition {
  return sql`p.id in (
    select found.id from topics t join projects found on found.topics @> array[t.name] where t.id = ${id} offset 0)`
}

function enabled(feature: 'issues' | 'merge_requests'): Condition {
  return sql`coalesce((p.feature_levels->>${feature})::int, ${FeatureLevel.enabled}::int) > ${FeatureLevel.disabled}::int`
}
