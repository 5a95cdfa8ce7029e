import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { projectLevels, Role } from '../../access/index.ts'
import { countLimit } from '../../kernel/endpoint/index.ts'
import { placeAvatar } from '../avatars/index.ts'
import { sharedWith, type SharedWithRow } from '../shares/index.ts'
import type { Attribute } from '../custom-attributes/index.ts'
import { homeColumns, type HomeRow } from './home.ts'
import { markedOn } from './marked.ts'
import type { StatisticsRow } from './statistics.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'

/** A project as the short form of answers needs it: its own columns and those of its namespace. */
export interface OwnProjectRow extends HomeRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: number
  readonly archived: boolean
  readonly default_branch: string | null
  readonly creator_id: number | null
  readonly storage: string
  readonly repository_empty: boolean
  readonly readme_path: string | null
  readonly license_path: string | null
  readonly license_key: string | null
  readonly settings: Readonly<Record<string, unknown>>
  readonly feature_levels: Readonly<Record<string, number>>
  readonly topics: readonly string[]
  readonly last_activity_at: string
  readonly created_at: string
  readonly updated_at: string
  readonly line: readonly number[]
  readonly avatar: string | null
  readonly forks_count: number
  readonly star_count: number
}

/** The same, and the caller's role in it. */
export interface PlainProjectRow extends OwnProjectRow {
  readonly role: number
}

export interface PullMirrorColumns {
  readonly url: string
  readonly mirror_user_id: number | null
  readonly mirror_trigger_builds: boolean
  readonly only_mirror_protected_branches: boolean
  readonly mirror_overwrites_diverged_branches: boolean
}

/** A project as the whole of answers needs it. */
export interface ProjectRow extends PlainProjectRow {
  /** Whose personal namespace it lies in. */
  readonly owner: BasicUserRow | null
  readonly project_access: number | null
  readonly group_access: number | null
  readonly shared_with_groups: readonly SharedWithRow[]
  readonly import_status: string
  readonly import_type: string | null
  readonly import_error: string | null
  /** Of the repository that it was made from. */
  readonly import_url: string | null
  /** The repository elsewhere that it follows. */
  readonly pull_mirror: PullMirrorColumns | null
  readonly marked_for_deletion_on: string | null
  /** The registration token for its runners, sealed; left out in lists. */
  readonly sealed_runners_token?: string | null
  /** What it takes; only where that was asked for. */
  readonly statistics?: StatisticsRow
  /** For administrators who ask for them. */
  readonly custom_attributes?: readonly Attribute[] | null
  /** As far as 10,000; the confidential ones are for Planners and above. */
  readonly open_issues_count: number
  /** Numbers of the levels of notification that the caller has set here, and in the namespace. */
  readonly project_notifications: number | null
  readonly group_notifications: number | null
  /** What it was made from, which the caller may not be allowed to see. */
  readonly forked_from: PlainProjectRow | null
}

const projectNames = [
  ...[
    'id',
    'name',
    'path',
    'full_path',
    'description',
    'visibility',
    'archived',
    'default_branch',
    'creator_id',
  ],
  ...[
    'storage',
    'refs_version',
    'repository_empty',
    'readme_path',
    'license_path',
    'license_key',
    'settings',
    'feature_levels',
    'topics',
  ],
  ...['last_activity_at', 'created_at', 'updated_at', 'forks_count', 'star_count'],
]

const notificationLevels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom']

/** The level that the caller has set for a place, as clients number it; null where he has set none. */
function notificationLevel(place: RawBuilder<unknown>): RawBuilder<number | null> {
  return sql`(
    select array_position(${notificationLevels}::text[], s.level) - 1
    from notification_settings s where s.user_id = actor.id and ${place})`
}

/** Columns of `ProjectRow`, over `projects p` joined as `projectJoins` says. */
export const projectColumns = sql`
  ${plainColumns('p', 'n')}, access.project_access, access.group_access, access.role, access.permissions,
  p.import_status, p.import_type, p.import_error,
  (select i.shown_address from repository_imports i where i.project_id = p.id) as import_url,
  ${markedOn('p')} as marked_for_deletion_on,
  (
    select json_build_object('url', mirror.shown_address, 'mirror_user_id', mirror.user_id,
      'mirror_trigger_builds', mirror.trigger_builds,
      'only_mirror_protected_branches', mirror.only_protected_branches,
      'mirror_overwrites_diverged_branches', mirror.overwrites_diverged_branches)
    from pull_mirrors mirror where mirror.project_id = p.id and mirror.enabled) as pull_mirror,
  (select ${basicUserJson('u')} from users u where u.id = n.owner_id) as owner,
  case when p.forked_from_id is not null then (
    select to_json(origin) from (
      select ${plainColumns('f', 'fn')}, role_in_project(f.id, actor.id) as role
      from projects f join namespaces fn on fn.id = f.namespace_id where f.id = p.forked_from_id) origin)
  end as forked_from,
  ${sharedWith('project', sql`p.id`, sql`access.role`)} as shared_with_groups,
  (select count(*) from (
    select from issues i
    where i.project_id = p.id and i.state = 'opened'
      and (not i.confidential or actor.admin or access.role >= ${Role.planner}::int) limit ${countLimit}) open
  ) as open_issues_count,
  ${notificationLevel(sql`s.project_id = p.id`)} as project_notifications,
  ${notificationLevel(sql`s.namespace_id = n.id`)} as group_notifications`

export const projectJoins = sql`join namespaces n on n.id = p.namespace_id ${projectLevels}`

/** The project that is the subject, for what shows its project: JSON of an `OwnProjectRow`. */
export const subjectProject = sql`(
  select to_json(own) from (
    select ${plainColumns('p', 'n')} from projects p join namespaces n on n.id = p.namespace_id
    where p.id = subject.id) own)`

/** What a project and its namespace say by themselves. */
function plainColumns(project: string, namespace: string): RawBuilder<unknown> {
  const of = (alias: string, names: readonly string[]): RawBuilder<unknown> =>
    sql.join(names.map((name) => sql.ref(`${alias}.${name}`)))
  return sql`
    ${of(project, projectNames)}, ${sql.ref(namespace)}.traversal_ids as line, ${homeColumns(namespace)},
    ${placeAvatar('project', project)} as avatar`
}
