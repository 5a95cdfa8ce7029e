import type { RawBuilder } from 'kysely'
import { actorRow, projectVisible, Role, type Actor } from '../../access/index.ts'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { sealedTokenOf } from '../registration-tokens/index.ts'
import { projectMark } from './deletion-mark.ts'
import { attributesColumn } from '../custom-attributes/index.ts'
import { projectColumns, projectJoins, type ProjectRow } from './rows.ts'
import { nameTaken } from './rules.ts'
import { statisticsColumn } from './statistics.ts'

const runnersToken = sql`${sealedTokenOf('project_id', sql`p.id`)} as sealed_runners_token`

/** The project that is the subject, read together with the caller's access. */
export function ofSubject({
  statistics = false,
  with_custom_attributes: attributes,
}: {
  statistics?: boolean | undefined
  with_custom_attributes?: boolean | undefined
} = {}): Read<ProjectRow> {
  return rows(sql`
    select ${projectColumns}, ${runnersToken}${attributesColumn('project', sql`p.id`, attributes)}
      ${statistics ? sql`, ${statisticsColumn}` : sql``}
    from projects p ${projectJoins} where p.id = subject.id`)
}

/** One project as this caller finds it, whether or not he may see it. */
export async function read(db: Reader, actor: Actor, id: number): Promise<ProjectRow> {
  const { rows: found } = await sql<{ project: ProjectRow }>`
    select to_json(r) as project from (
      select ${projectColumns}, ${runnersToken} from ${actorRow(actor)} join projects p on p.id = ${id} ${projectJoins}) r`.execute(
    db,
  )
  return found[0]!.project
}

/** A namespace that a project is to be put into. */
export interface Home {
  readonly id: number
  readonly kind: 'user' | 'group'
  readonly owner_id: number | null
  readonly full_path: string
  readonly visibility: number
  readonly settings: Readonly<Record<string, unknown>>
  /** Id of the top-level namespace above it, or its own. */
  readonly root: number
  /** Of a personal namespace: how many projects its owner may have, and how many there are. */
  readonly projects_limit: number | null
  readonly projects: number
}

/** The namespace with this id or full path, or the personal one of this user. Old paths lead nowhere here. */
export async function findHome(
  db: Reader,
  by: { namespaceId: number } | { userId: number } | { fullPath: string },
): Promise<Home | undefined> {
  const condition =
    'namespaceId' in by
      ? sql`n.id = ${by.namespaceId}`
      : 'userId' in by
        ? sql`n.kind = 'user' and n.owner_id = ${by.userId}`
        : sql`n.id = (
            select r.namespace_id from routes r
            where r.path_key = ${by.fullPath.toLowerCase()} and not r.redirect)`
  const found = await sql<Home>`
    select n.id, n.kind, n.owner_id, n.full_path, n.visibility, n.settings, n.traversal_ids[1] as root, u.projects_limit,
      case when n.kind = 'user' then (select count(*) from projects p where p.namespace_id = n.id) else 0 end as projects
    from namespaces n left join users u on u.id = n.owner_id where ${condition}`.execute(db)
  return found.rows[0]
}

/** Whether a name or a full path is in use, for telling both at once; the constraints decide in the end. */
export async function findTaken(
  db: Reader,
  wanted: { namespaceId: number; name: string; fullPath: string; exceptId?: number },
): Promise<{ name: boolean; path: boolean }> {
  const found = await sql<{ name: boolean; path: boolean }>`
    select
      exists (select from projects p where p.namespace_id = ${wanted.namespaceId}
        and lower(p.name) = lower(${wanted.name}) and p.id is distinct from ${wanted.exceptId ?? null}::bigint) as name,
      exists (select from routes r where r.path_key = ${wanted.fullPath.toLowerCase()} and not r.redirect
        and r.project_id is distinct from ${wanted.exceptId ?? null}::bigint) as path`.execute(db)
  return found.rows[0]!
}

export interface NewProject {
  readonly home: Home
  readonly creatorId: number | null
  readonly name: string
  readonly path: string
  readonly description: string | null
  readonly visibility: number
  readonly defaultBranch: string
  readonly settings: Readonly<Record<string, unknown>>
  readonly featureLevels: Readonly<Record<string, unknown>>
  readonly topics: readonly string[]
  readonly storage: string
}

/** The project, and in a personal namespace its owner's membership. */
export async function insert(tx: Tx, project: NewProject): Promise<number> {
  const { home } = project
  const { rows: made } = await sql<{ id: number }>`
    with project as (
      insert into projects (namespace_id, creator_id, name, path, full_path, description, visibility, default_branch,
        settings, feature_levels, topics, storage)
      values (${home.id}, ${project.creatorId}, ${project.name}, ${project.path}, ${`${home.full_path}/${project.path}`},
        ${project.description}, ${project.visibility}, ${project.defaultBranch}, ${JSON.stringify(project.settings)},
        ${JSON.stringify(project.featureLevels)}, ${[...project.topics]}, ${project.storage})
      returning id
    ), owner as (
      insert into members (user_id, project_id, access_level, created_by_id)
      select n.owner_id, project.id, ${Role.owner}, ${project.creatorId} from project, namespaces n
      where n.id = ${home.id} and n.owner_id is not null
    )
    select id from project`
    .execute(tx)
    .catch(onConstraint('projects_name', nameTaken))
  return made[0]!.id
}

/** Notes that a push of this user has made the project. */
export async function notePushed(tx: Tx, projectId: number, userId: number): Promise<void> {
  await sql`insert into pushed_projects (project_id, user_id) values (${projectId}, ${userId})`.execute(tx)
}

/** Takes that note away; whose push it was, if any. */
export async function takePushed(db: Writer, projectId: number): Promise<number | undefined> {
  const { rows: taken } = await sql<{ user_id: number }>`
    delete from pushed_projects where project_id = ${projectId} returning user_id`.execute(db)
  return taken[0]?.user_id
}

/** What an update of a project starts from; the row is locked until the transaction ends. */
export interface LockedProject {
  readonly id: number
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_full_path: string
  readonly namespace_visibility: number
  readonly namespace_settings: Readonly<Record<string, unknown>>
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: number
  readonly default_branch: string | null
  readonly storage: string
  readonly refs_version: number
  readonly repository_empty: boolean
  readonly settings: Readonly<Record<string, unknown>>
  readonly feature_levels: Readonly<Record<string, number>>
  readonly topics: readonly string[]
  /** Of what it was made from. */
  readonly source_visibility: number | null
}

export async function lock(tx: Tx, id: number): Promise<LockedProject | undefined> {
  const { rows: found } = await sql<LockedProject>`
    select p.id, p.namespace_id, n.kind as namespace_kind, n.full_path as namespace_full_path,
      n.visibility as namespace_visibility, n.settings as namespace_settings, p.name, p.path, p.full_path,
      p.description, p.visibility, p.default_branch, p.storage, p.refs_version, p.repository_empty, p.settings,
      p.feature_levels, p.topics,
      (select s.visibility from projects s where s.id = p.forked_from_id) as source_visibility
    from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id} for update of p`.execute(tx)
  return found[0]
}

/** The columns that an update writes, each with its new value. */
export interface ProjectChanges {
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: number
  readonly default_branch: string | null
  readonly settings: Readonly<Record<string, unknown>>
  readonly feature_levels: Readonly<Record<string, unknown>>
  readonly topics: readonly string[]
}

export async function change(tx: Tx, id: number, changes: ProjectChanges): Promise<void> {
  await sql`
    update projects set name = ${changes.name}, path = ${changes.path}, full_path = ${changes.full_path},
      description = ${changes.description}, visibility = ${changes.visibility},
      default_branch = ${changes.default_branch}, settings = ${JSON.stringify(changes.settings)},
      feature_levels = ${JSON.stringify(changes.feature_levels)}, topics = ${[...changes.topics]}, updated_at = now(),
      refs_version = refs_version + case when default_branch is distinct from ${changes.default_branch} then 1 else 0 end
    where id = ${id}`
    .execute(tx)
    .catch(onConstraint('projects_name', nameTaken))
}

export async function setReadme(
  db: Reader & Pick<Tx, 'updateTable'>,
  id: number,
  path: string,
): Promise<void> {
  await db.updateTable('projects').set({ readme_path: path }).where('id', '=', id).execute()
}

/** Tells whether there was anything to change. */
export async function archive(tx: Tx, id: number): Promise<boolean> {
  const { rows: changed } = await sql`
    update projects set archived = true, updated_at = now() where id = ${id} and not archived
    returning 1`.execute(tx)
  return changed.length > 0
}

/** Hold the tree before. Tells whether the project is at work now: it rests as long as a group above it does. */
export async function unarchive(tx: Tx, id: number): Promise<boolean> {
  const { rows: found } = await sql<{ archived: boolean }>`
    update projects p
    set archived = p.archived and resting.above, archived_with_group = p.archived_with_group and resting.above,
      updated_at = case when p.archived and not resting.above then now() else p.updated_at end
    from (
      select exists (select from namespaces a where a.id = any (n.traversal_ids) and a.archived) as above
      from projects x join namespaces n on n.id = x.namespace_id where x.id = ${id}) resting
    where p.id = ${id} returning p.archived`.execute(tx)
  return found[0]?.archived !== true
}

/** Removes the row and all that hangs on it; tells where its repository lies. */
export async function remove(tx: Tx, id: number): Promise<{ id: number; storage: string } | undefined> {
  const { rows: removed } = await sql<{ id: number; storage: string }>`
    delete from projects where id = ${id} returning id, storage`.execute(tx)
  return removed[0]
}

/** Where the repositories of all projects of a group and of the groups below it lie. */
export async function repositoriesBelow(
  tx: Tx,
  namespaceId: number,
): Promise<{ id: number; storage: string }[]> {
  const { rows: found } = await sql<{ id: number; storage: string }>`
    select p.id, p.storage from projects p join namespaces n on n.id = p.namespace_id
    where n.traversal_ids @> array[${namespaceId}::bigint] order by p.id`.execute(tx)
  return found
}

/** At most 100 projects of the group that is the subject, or shared with it, as one JSON value of `ProjectRow`s; newest first. */
export function embeddedProjects(which: 'own' | 'shared'): RawBuilder<unknown> {
  const chosen =
    which === 'own'
      ? sql`p.namespace_id = subject.id`
      : sql`p.id in (
          select s.project_id from project_shares s
          where s.group_id = subject.id and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date))`
  return sql`(
    select coalesce(json_agg(r), '[]'::json) from (
      select ${projectColumns} from projects p ${projectJoins}
      where ${chosen} and ${projectVisible} order by p.created_at desc, p.id desc limit 100) r)`
}

/** Projects whose days are over, at most `limit`. */
export async function dueProjects(db: Reader, days: number, limit: number): Promise<number[]> {
  const { rows: found } = await sql<{ id: number }>`
    select p.id from projects p where ${projectMark.overdue(days)} order by p.marked_for_deletion_at, p.id limit ${limit}`.execute(
    db,
  )
  return found.map(({ id }) => id)
}

/** Holds the project; tells whether its days are still over. */
export async function lockDue(tx: Tx, id: number, days: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from projects p where p.id = ${id} and ${projectMark.overdue(days)} for update`.execute(tx)
  return found.length > 0
}
