import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import type { SubjectKind } from '../kernel/endpoint/endpoint.ts'
import { forbidden, notFound, type ApiError } from '../kernel/errors/index.ts'
import type { GroupAbility } from './abilities/group.ts'
import type { InstanceAbility } from './abilities/instance.ts'
import type { JobAbility, RunnerAbility } from './abilities/machine.ts'
import type { ProjectAbility } from './abilities/project.ts'
import { defaultFeatureLevels, type Feature } from './features.ts'
import { Role } from './levels.ts'
import type { Permission } from './permissions.ts'

export interface InstanceSubject {
  readonly kind: 'instance'
}

/** A project together with the caller's role in it. */
export interface ProjectSubject {
  readonly kind: 'project'
  readonly id: number
  readonly namespaceId: number
  readonly namespaceKind: 'user' | 'group'
  /** Ids of the namespaces from the top one down to the project's own. */
  readonly line: readonly number[]
  readonly name: string
  readonly path: string
  readonly fullPath: string
  readonly visibility: number
  readonly archived: boolean
  /** It, or a group above it, waits for its end. */
  readonly deleting: boolean
  /** It is being made of an archive. */
  readonly importing: boolean
  readonly defaultBranch: string | null
  readonly creatorId: number | null
  readonly storage: string
  readonly refsVersion: number
  readonly repositoryEmpty: boolean
  readonly settings: Readonly<Record<string, unknown>>
  readonly features: Readonly<Record<Feature, number>>
  /** The caller's highest role here, inherited or direct; 0 without any. */
  readonly role: number
  /** What the caller's custom roles give here on top of that. */
  readonly permissions: readonly Permission[]
  /** The caller is a job of another project that is let in here. */
  readonly openToJob: boolean
  /** Everybody may take its packages, whoever else sees it; known where the subject is found as `packageProject`. */
  readonly packagesForAll: boolean
  /** Addresses and ranges that its top-level group is shown to; null or empty: to all. */
  readonly admittedAddresses: string | null
}

export interface GroupSubject {
  readonly kind: 'group'
  readonly id: number
  readonly parentId: number | null
  readonly line: readonly number[]
  readonly name: string
  readonly path: string
  readonly fullPath: string
  readonly visibility: number
  readonly settings: Readonly<Record<string, unknown>>
  /** It, or a group above it, is archived. */
  readonly archived: boolean
  /** It, or a group above it, waits for its end. */
  readonly deleting: boolean
  readonly role: number
  readonly permissions: readonly Permission[]
  /** Addresses and ranges that its top-level group is shown to; null or empty: to all. */
  readonly admittedAddresses: string | null
}

/** A runner, found by its own token. */
export interface RunnerSubject {
  readonly kind: 'runner'
  readonly id: number
  readonly runnerType: 'instance_type' | 'group_type' | 'project_type'
  readonly namespaceId: number | null
  readonly tagList: readonly string[]
  readonly runUntagged: boolean
  readonly paused: boolean
  readonly accessLevel: 'not_protected' | 'ref_protected'
  readonly maximumTimeout: number | null
  readonly contactedAt: Date | string | null
}

/** A CI job, found by its id together with its own token. */
export interface JobSubject {
  readonly kind: 'job'
  readonly id: number
  readonly projectId: number
  readonly pipelineId: number
  readonly status: string
  readonly erased: boolean
}

type Row = Readonly<Record<string, unknown>>

/** How a subject is named in a request: a path parameter, or the secret that it is found by. */
export interface Lookup {
  /** The value of the path parameter `:id`. */
  readonly id: string | undefined
  /** Digest of the credential of a runner or job, if one was sent. */
  readonly secretDigest: string | undefined
}

/** How access finds a kind of subject. */
export interface AccessKind<Name extends string, Subject, Ability extends string> extends SubjectKind<
  Name,
  Subject,
  Ability
> {
  /** A select of the columns of `subject`, or null when there is nothing to find. */
  readonly find: ((lookup: Lookup) => RawBuilder<unknown>) | null
  /**
   * What makes an entrance to the subject outdated, in SQL: another text as soon as one of the rows that `find` brought
   * is another. Null: it is found anew each time.
   */
  readonly version: RawBuilder<unknown> | null
  /** The caller's memberships here, as a row source `effective_memberships(...)`, or null. */
  readonly memberships: RawBuilder<unknown> | null
  /** Whether jobs of the project with this id are let in, in SQL; left out: there is nothing to let them into. */
  readonly openToJob?: (jobProject: RawBuilder<unknown>) => RawBuilder<unknown>
  /** Whether the caller may know of the subject, in SQL; what a `read` brings hangs on it. */
  readonly visible: RawBuilder<unknown>
  readonly subject: (row: Row, role: number) => Subject
  readonly missing: () => ApiError
}

export const visibleByLevel = sql`(
  subject.visibility = 20 or actor.admin or membership.role >= 10
  or (subject.visibility = 10 and actor.id is not null and not actor.external))`

/** Digits are an id; anything else is a full path, which needs a slash to be a project's. */
function identified(id: string | undefined): { id: number } | { path: string } {
  const text = id ?? ''
  if (/^\d{1,15}$/.test(text)) return { id: Number(text) }
  return { path: text.toLowerCase() }
}

/** Whether the namespace `n` or a group above it waits for its end. */
const groupMarked = sql`exists (
  select from namespaces marked where marked.id = any (n.traversal_ids) and marked.marked_for_deletion_at is not null)`

/** Whether the namespace `n` or a group above it is archived; projects keep that in a column of their own. */
export const groupArchived = sql`exists (
  select from namespaces resting where resting.id = any (n.traversal_ids) and resting.archived)`

/** Neither the namespace `n` nor a group above it is archived or waits for its end. */
export const groupActive = sql`(not ${groupArchived} and not ${groupMarked})`

/** Of namespace `n`; a change of it raises the mark of everybody's access. */
const admittedAddresses = sql`(
  select top.settings ->> 'ip_restriction_ranges' from namespaces top where top.id = n.traversal_ids[1])`

/** Of project `p` in namespace `n`, as `projectFromRow` takes them. */
export const projectColumns = sql`
  p.id, p.namespace_id, n.kind as namespace_kind, n.traversal_ids as line, p.name, p.path, p.full_path, p.visibility,
  p.archived, p.default_branch, p.creator_id, p.storage, p.refs_version, p.repository_empty, p.settings,
  p.feature_levels, (p.marked_for_deletion_at is not null or ${groupMarked}) as deleting,
  p.import_status in ('scheduled', 'started') as importing, ${admittedAddresses} as admitted_addresses,
  p.xmin::text || '.' || n.xmin::text as version`

/** Jobs of other projects come in where the project's list names theirs or a group above it, or where it keeps none. */
function openToJob(jobProject: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    (subject.settings ->> 'ci_inbound_job_token_scope_enabled')::boolean is false
    or exists (
      select from ci_job_token_allowlist a
      where a.project_id = subject.id and (a.target_project_id = ${jobProject} or a.target_namespace_id in (
        select unnest(jn.traversal_ids) from projects jp join namespaces jn on jn.id = jp.namespace_id
        where jp.id = ${jobProject}))))`
}

export const project: AccessKind<'project', ProjectSubject, ProjectAbility> = {
  name: 'project',
  find(lookup) {
    const by = identified(lookup.id)
    return 'id' in by
      ? sql`
          select ${projectColumns}, false as redirect
          from projects p join namespaces n on n.id = p.namespace_id where p.id = ${by.id}`
      : sql`
          select ${projectColumns}, r.redirect
          from routes r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id
          where r.path_key = ${by.path}`
  },
  version: sql`subject.version`,
  memberships: sql`effective_memberships(subject.line, subject.id)`,
  openToJob,
  visible: visibleByLevel,
  subject: projectFromRow,
  missing: () => notFound('Project'),
}

/** `permissions` of the row: what `permissions_of_roles` says; left out where nothing hangs on it. */
export function projectFromRow(row: Row, role: number): ProjectSubject {
  return {
    kind: 'project',
    id: row['id'] as number,
    namespaceId: row['namespace_id'] as number,
    namespaceKind: row['namespace_kind'] as 'user' | 'group',
    line: row['line'] as number[],
    name: row['name'] as string,
    path: row['path'] as string,
    fullPath: row['full_path'] as string,
    visibility: row['visibility'] as number,
    archived: row['archived'] as boolean,
    deleting: row['deleting'] === true,
    importing: row['importing'] === true,
    defaultBranch: row['default_branch'] as string | null,
    creatorId: row['creator_id'] as number | null,
    storage: row['storage'] as string,
    refsVersion: row['refs_version'] as number,
    repositoryEmpty: row['repository_empty'] as boolean,
    settings: row['settings'] as Record<string, unknown>,
    features: { ...defaultFeatureLevels, ...(row['feature_levels'] as Partial<Record<Feature, number>>) },
    role,
    permissions: permissionsOf(row),
    openToJob: row['open_to_job'] === true,
    packagesForAll: row['packages_for_all'] === true,
    admittedAddresses: (row['admitted_addresses'] as string | null | undefined) ?? null,
  }
}

function permissionsOf(row: Row): readonly Permission[] {
  return (row['permissions'] as Permission[] | null | undefined) ?? []
}

/** Of namespace `n`, as `groupFromRow` takes them. */
export const groupColumns = sql`n.id, n.parent_id, n.traversal_ids as line, n.name, n.path, n.full_path, n.visibility, n.settings,
  ${groupArchived} as archived, ${groupMarked} as deleting, ${admittedAddresses} as admitted_addresses,
  n.xmin::text as version`

export const group: AccessKind<'group', GroupSubject, GroupAbility> = {
  name: 'group',
  find(lookup) {
    const by = identified(lookup.id)
    return 'id' in by
      ? sql`select ${groupColumns} from namespaces n where n.id = ${by.id} and n.kind = 'group'`
      : sql`
          select ${groupColumns} from routes r join namespaces n on n.id = r.namespace_id
          where r.path_key = ${by.path} and not r.redirect and n.kind = 'group'`
  },
  version: sql`subject.version`,
  memberships: sql`effective_memberships(subject.line, null)`,
  // A member of a project or subgroup inside may see the groups above it.
  visible: sql`(${visibleByLevel} or is_member_inside(actor.id, subject.id))`,
  subject: (row, role) => ({
    kind: 'group',
    id: row['id'] as number,
    parentId: row['parent_id'] as number | null,
    line: row['line'] as number[],
    name: row['name'] as string,
    path: row['path'] as string,
    fullPath: row['full_path'] as string,
    visibility: row['visibility'] as number,
    archived: row['archived'] === true,
    deleting: row['deleting'] === true,
    settings: row['settings'] as Record<string, unknown>,
    role,
    permissions: permissionsOf(row),
    admittedAddresses: row['admitted_addresses'] as string | null,
  }),
  missing: () => notFound('Group'),
}

export const instance: AccessKind<'instance', InstanceSubject, InstanceAbility> = {
  name: 'instance',
  find: null,
  version: sql`''`,
  memberships: null,
  visible: sql`true`,
  subject: () => ({ kind: 'instance' }),
  missing: () => notFound(),
}

/** Whether the caller has a role there, inherited or direct, that is more than being known. */
export function isMember({ role }: ProjectSubject | GroupSubject): boolean {
  return role >= Role.guest
}

export const runner: AccessKind<'runner', RunnerSubject, RunnerAbility> = {
  name: 'runner',
  find: (lookup) => sql`
    select r.id, r.runner_type, r.namespace_id, r.tag_list, r.run_untagged, r.paused, r.access_level,
      r.maximum_timeout, r.contacted_at
    from ci_runners r
    where r.token_digest = ${lookup.secretDigest ?? null}
      and (r.token_expires_at is null or r.token_expires_at > now())`,
  version: null,
  memberships: null,
  visible: sql`true`,
  subject: (row) => ({
    kind: 'runner',
    id: row['id'] as number,
    runnerType: row['runner_type'] as RunnerSubject['runnerType'],
    namespaceId: row['namespace_id'] as number | null,
    tagList: row['tag_list'] as string[],
    runUntagged: row['run_untagged'] as boolean,
    paused: row['paused'] as boolean,
    accessLevel: row['access_level'] as RunnerSubject['accessLevel'],
    maximumTimeout: row['maximum_timeout'] as number | null,
    contactedAt: row['contacted_at'] as Date | null,
  }),
  missing: () => forbidden(),
}

export const job: AccessKind<'job', JobSubject, JobAbility> = {
  name: 'job',
  find: (lookup) => sql`
    select j.id, j.project_id, j.pipeline_id, j.status, j.erased_at is not null as erased
    from ci_jobs j
    where j.token_digest = ${lookup.secretDigest ?? null}
      and j.id = ${/^\d{1,15}$/.test(lookup.id ?? '') ? Number(lookup.id) : null}`,
  version: null,
  memberships: null,
  visible: sql`true`,
  subject: (row) => ({
    kind: 'job',
    id: row['id'] as number,
    projectId: row['project_id'] as number,
    pipelineId: row['pipeline_id'] as number,
    status: row['status'] as string,
    erased: row['erased'] as boolean,
  }),
  // Never 404, which a runner takes for trouble of the network: only 403 makes it stop the job.
  missing: () => forbidden(),
}

export type AnySubject = InstanceSubject | ProjectSubject | GroupSubject | RunnerSubject | JobSubject
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any kind of subject
export type AnyKind = AccessKind<string, any, any>
/** Kinds with this subject, whatever can be done to it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a kind with any abilities
export type KindOf<Subject> = AccessKind<string, Subject, any>
