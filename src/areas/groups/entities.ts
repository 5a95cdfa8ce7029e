import { isAdministrator, may, visibilityName, visibilityNames, type Actor } from '../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { avatarUrl } from '../avatars/index.ts'
import { CustomAttribute, type Attribute } from '../custom-attributes/index.ts'
import {
  GroupStatistics,
  groupStatisticsEntity,
  Project,
  type GroupStatisticsRow,
  type ProjectRow,
} from '../projects/index.ts'
import { SharedWith, type SharedWithRow } from '../shares/index.ts'
import {
  protectionKind,
  ProtectionDefaults,
  settingFields,
  shownSettings,
  type Protection,
  type StoredSettings,
} from './settings.ts'

const groupFields = {
  id: Id(),
  web_url: Text(),
  name: Text(),
  path: Text(),
  description: Nullable(Text()),
  visibility: OneOf(visibilityNames, {}),
  ...settingFields('everywhere'),
  emails_disabled: Flag(),
  default_branch_protection: Int(),
  default_branch_protection_defaults: ProtectionDefaults,
  avatar_url: Nullable(Text()),
  full_name: Text(),
  full_path: Text(),
  created_at: Timestamp(),
  parent_id: Nullable(Id()),
  organization_id: Int(),
  archived: Flag({ description: 'It, or a group above it' }),
  marked_for_deletion_on: Nullable(Text()),
  ldap_cn: Optional(Nullable(Text({ description: 'Of the first link to a group of a directory' }))),
  ldap_access: Optional(Nullable(Int())),
  repository_storage: Optional(Nullable(Text({ description: 'Where its wiki lies. For administrators' }))),
  statistics: Optional(GroupStatistics),
  custom_attributes: Optional(ListOf(CustomAttribute)),
}

export const Group = Fields(groupFields)

export const GroupDetail = Fields({
  ...groupFields,
  shared_with_groups: ListOf(SharedWith),
  runners_token: Optional(Nullable(Text({ description: 'For Owners' }))),
  ...settingFields('detail'),
  shared_runners_minutes_limit: Optional(Nullable(Int())),
  extra_shared_runners_minutes_limit: Optional(Nullable(Int())),
  projects: Optional(ListOf(Project)),
  shared_projects: Optional(ListOf(Project)),
})

/** A group as lists of groups of a project show it. */
export const ProjectGroup = Fields({
  id: Id(),
  web_url: Text(),
  name: Text(),
  avatar_url: Nullable(Text()),
  full_name: Text(),
  full_path: Text(),
})

/** A group as answers need it, with the level of the caller. */
export interface GroupRow {
  readonly id: number
  readonly parent_id: number | null
  readonly line: readonly number[]
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly line_name: string
  readonly avatar: string | null
  readonly description: string
  readonly visibility: number
  readonly settings: StoredSettings
  readonly created_at: string
  readonly role: number
  readonly archived: boolean
  readonly marked_for_deletion_on: string | null
  /** The first of its links to groups of a directory. */
  readonly ldap: { readonly cn: string | null; readonly group_access: number } | null
  /** Where its wiki lies, if it has one. */
  readonly wiki_storage: string | null
  readonly statistics?: GroupStatisticsRow | null
  readonly custom_attributes?: readonly Attribute[] | null
  /** Only where they are wanted. */
  readonly shared_with_groups?: readonly SharedWithRow[]
  /** The registration token for its runners, sealed. */
  readonly sealed_runners_token?: string | null
  readonly projects?: readonly ProjectRow[] | null
  readonly shared_projects?: readonly ProjectRow[] | null
}

/** What a group's entity hangs on besides its row. */
export interface EntityContext {
  readonly actor: Actor
  /** Without a slash at the end. */
  readonly externalUrl: string
  readonly sshAddress: (fullPath: string) => string
  readonly cloneRoot: string
  readonly paid: boolean
  /** Of the instance, for groups that have none of their own. */
  readonly protection: Protection
}

export function group(
  row: GroupRow,
  { actor, externalUrl, paid, protection: usual }: EntityContext,
): Record<string, unknown> {
  const protection = row.settings.default_branch_protection_defaults ?? usual
  const settings = shownSettings(row.settings, paid)
  return {
    id: row.id,
    web_url: `${externalUrl}/groups/${row.full_path}`,
    name: row.name,
    path: row.path,
    description: row.description,
    visibility: visibilityName(row.visibility),
    ...settings,
    emails_disabled: settings.emails_enabled === false,
    default_branch_protection: protectionKind(protection),
    default_branch_protection_defaults: protection,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    full_name: row.line_name,
    full_path: row.full_path,
    created_at: row.created_at,
    parent_id: row.parent_id,
    organization_id: 1,
    archived: row.archived,
    marked_for_deletion_on: row.marked_for_deletion_on,
    ...(paid && { ldap_cn: row.ldap?.cn ?? null, ldap_access: row.ldap?.group_access ?? null }),
    ...(paid && isAdministrator(actor) && { repository_storage: row.wiki_storage }),
    ...(row.statistics != null && { statistics: groupStatisticsEntity(row.statistics) }),
    ...(row.custom_attributes != null && { custom_attributes: row.custom_attributes }),
  }
}

/** What only the whole of a group shows. */
export interface DetailContext extends EntityContext {
  /** For Owners. */
  readonly runnersToken?: string | null
  /** Where they are wanted. */
  readonly projects?: readonly Record<string, unknown>[] | undefined
  readonly sharedProjects?: readonly Record<string, unknown>[] | undefined
}

export function groupDetail(row: GroupRow, context: DetailContext): Record<string, unknown> {
  const { actor, paid, projects, sharedProjects } = context
  return {
    ...group(row, context),
    shared_with_groups: row.shared_with_groups ?? [],
    runners_token: looksAfter(actor, row) ? (context.runnersToken ?? null) : undefined,
    ...(paid && { shared_runners_minutes_limit: null, extra_shared_runners_minutes_limit: null }),
    ...(projects !== undefined && { projects, shared_projects: sharedProjects ?? [] }),
  }
}

/** Whether the caller is told what is for the Owners of a group. */
export function looksAfter(actor: Actor, row: GroupRow): boolean {
  const { parent_id: parentId, full_path: fullPath } = row
  const settings = { ...row.settings }
  const bare = { permissions: [], deleting: false, admittedAddresses: null }
  return may(actor, 'admin_group', { ...row, ...bare, kind: 'group', parentId, fullPath, settings })
}

export function projectGroup(row: GroupRow, externalUrl: string): Record<string, unknown> {
  return {
    id: row.id,
    web_url: `${externalUrl}/groups/${row.full_path}`,
    name: row.name,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    full_name: row.line_name,
    full_path: row.full_path,
  }
}
