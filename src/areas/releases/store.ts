import type { RawBuilder } from 'kysely'
import { featureOpen, projectColumns, projectLevels, projectVisible } from '../../access/index.ts'
import { isDatabaseError, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { conflict, invalid } from '../../kernel/errors/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { milestoneJson } from '../milestones/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { LinkRow, ReleaseRow } from './entities.ts'

const linkColumns = sql`l.id, l.name, l.url, l.filepath, l.link_type`

const columns = sql`
  r.id, r.tag, r.name, r.description, r.sha, r.created_at, r.released_at, ${basicUserJson('u')} as author,
  coalesce((
    select json_agg(json_build_object('id', l.id, 'name', l.name, 'url', l.url, 'filepath', l.filepath,
      'link_type', l.link_type) order by l.id desc)
    from release_links l where l.release_id = r.id), '[]') as links,
  coalesce((
    select json_agg(json_build_object('milestone', ${milestoneJson(sql`x.milestone_id`)}, 'issues', (
      select json_build_object('total', count(*), 'closed', count(*) filter (where i.state = 'closed'))
      from issues i where i.milestone_id = x.milestone_id)) order by x.milestone_id)
    from release_milestones x where x.release_id = r.id), '[]') as milestones,
  coalesce((
    select json_agg(json_build_object('id', e.id, 'sha', e.sha, 'collected_at', e.collected_at) order by e.id)
    from release_evidences e where e.release_id = r.id), '[]') as evidences`
const from = sql`from releases r left join users u on u.id = r.author_id`

export interface ReleaseFilter {
  readonly order_by: 'released_at' | 'created_at'
  readonly sort: 'asc' | 'desc'
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
}

/** Read together with the caller's access: `subject` is the project. */
export function list(
  { order_by, sort, updated_after, updated_before }: ReleaseFilter,
  input: PageInput,
): Read<ReleaseRow> {
  const conditions: RawBuilder<unknown>[] = [sql`r.project_id = subject.id`]
  if (updated_after !== undefined) conditions.push(sql`r.updated_at >= ${updated_after}`)
  if (updated_before !== undefined) conditions.push(sql`r.updated_at <= ${updated_before}`)
  const direction = sort === 'desc' ? sql`desc` : sql`asc`
  return page(
    {
      columns,
      from: sql`${from} where ${sql.join(conditions, sql` and `)}`,
      order: sql`${sql.ref(`r.${order_by}`)} ${direction}, r.id ${direction}`,
    },
    input,
  )
}

/** With the project of each, and what the caller is there. */
export type GroupReleaseRow = ReleaseRow & {
  readonly project: Readonly<Record<string, unknown>>
  readonly role: number
}

/** `subject` is the group. */
export function listOfGroup(
  { sort }: { readonly sort: 'asc' | 'desc' },
  input: PageInput,
): Read<GroupReleaseRow> {
  const direction = sql.raw(sort)
  const open = featureOpen('releases', sql`p.feature_levels`, sql`access.role > 0`)
  return page(
    {
      columns: sql`${columns}, access.role, (
        select to_json(x) from (select ${projectColumns}, access.permissions) x) as project`,
      from: sql`${from} join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id ${projectLevels}
        where n.traversal_ids @> array[subject.id] and ${projectVisible} and ${open}`,
      order: sql`r.released_at ${direction}, r.id ${direction}`,
    },
    input,
  )
}

export function one(tag: string): Read<ReleaseRow> {
  return rows(sql`select ${columns} ${from} where r.project_id = subject.id and r.tag = ${tag}`)
}

/** The release that came out last. */
export function latest(): Read<{ readonly tag: string }> {
  return rows(sql`
    select r.tag from releases r where r.project_id = subject.id and r.released_at <= now()
    order by r.released_at desc, r.id desc limit 1`)
}

/** Ids of milestones of the project and of the groups above it with these titles, and the titles that there are not. */
export async function findMilestones(
  db: Reader,
  { id, line }: { readonly id: number; readonly line: readonly number[] },
  titles: readonly string[],
): Promise<{ ids: number[]; missing: string[] }> {
  if (titles.length === 0) return { ids: [], missing: [] }
  const { rows: found } = await sql<{ id: number; title: string }>`
    select distinct on (m.title) m.id, m.title from milestones m
    where (m.project_id = ${id} or m.namespace_id = any (${[...line]}::bigint[]))
      and m.title = any (${[...titles]}::text[])
    order by m.title, m.project_id is null, m.id`.execute(db)
  const known = new Set(found.map(({ title }) => title))
  return { ids: found.map((one) => one.id), missing: titles.filter((title) => !known.has(title)) }
}

export async function setMilestones(tx: Tx, releaseId: number, ids: readonly number[]): Promise<void> {
  await sql`
    with gone as (
      delete from release_milestones x where x.release_id = ${releaseId}
        and x.milestone_id <> all (${[...ids]}::bigint[]))
    insert into release_milestones (release_id, milestone_id)
    select ${releaseId}, m.id from milestones m where m.id = any (${[...ids]}::bigint[])
    on conflict do nothing`.execute(tx)
}

export async function find(db: Reader, id: number): Promise<ReleaseRow> {
  const { rows: found } = await sql<{ row: ReleaseRow }>`
    select to_json(x) as row from (select ${columns} ${from} where r.id = ${id}) x`.execute(db)
  return found[0]!.row
}

export async function exists(db: Reader, projectId: number, tag: string): Promise<boolean> {
  const { rows: found } = await sql`
    select from releases r where r.project_id = ${projectId} and r.tag = ${tag}`.execute(db)
  return found.length > 0
}

export interface NewRelease {
  readonly projectId: number
  readonly tag: string
  readonly name: string | null
  readonly description: string | null
  readonly sha: string
  readonly authorId: number
  /** Null: now. */
  readonly releasedAt: Date | null
}

export const taken = (): Error => conflict('Release already exists')

export async function create(tx: Tx, values: NewRelease): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    insert into releases (project_id, tag, name, description, sha, author_id, released_at)
    values (${values.projectId}, ${values.tag}, ${values.name}, ${values.description}, ${values.sha},
      ${values.authorId}, coalesce(${values.releasedAt}::timestamptz, now()))
    on conflict (project_id, tag) do nothing returning id`.execute(tx)
  const id = made[0]?.id
  if (id === undefined) throw taken()
  return id
}

export async function change(
  db: Writer,
  id: number,
  values: {
    readonly name: string | undefined
    readonly description: string | undefined
    readonly releasedAt: Date | undefined
  },
): Promise<void> {
  await sql`
    update releases r set name = coalesce(${values.name ?? null}, r.name),
      description = coalesce(${values.description ?? null}, r.description),
      released_at = coalesce(${values.releasedAt ?? null}::timestamptz, r.released_at), updated_at = now()
    where r.id = ${id}`.execute(db)
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from releases r where r.id = ${id}`.execute(db)
}

export interface LinkValues {
  readonly name: string
  readonly url: string
  readonly filepath: string | null
  readonly link_type: string
}

export async function addLink(db: Writer, releaseId: number, values: LinkValues): Promise<LinkRow> {
  const { rows: made } = await sql<LinkRow>`
    insert into release_links as l (release_id, name, url, filepath, link_type)
    values (${releaseId}, ${values.name}, ${values.url}, ${values.filepath}, ${values.link_type})
    returning ${linkColumns}`
    .execute(db)
    .catch(linkTaken)
  return made[0]!
}

export async function changeLink(db: Writer, id: number, values: LinkValues): Promise<LinkRow> {
  const { rows: changed } = await sql<LinkRow>`
    update release_links l set name = ${values.name}, url = ${values.url}, filepath = ${values.filepath},
      link_type = ${values.link_type} where l.id = ${id} returning ${linkColumns}`
    .execute(db)
    .catch(linkTaken)
  return changed[0]!
}

export async function removeLink(db: Writer, id: number): Promise<void> {
  await sql`delete from release_links l where l.id = ${id}`.execute(db)
}

function linkTaken(error: unknown): never {
  const field = isDatabaseError(error)
    ? /^release_links_(name|url|filepath)$/.exec(error.constraint ?? '')
    : null
  if (field === null) throw error
  throw invalid({ [field[1]!]: ['has already been taken'] })
}
