import { privateAddress } from '../../access/index.ts'
import { offers, type Plan } from '../../kernel/config/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { CustomAttribute, type Attribute } from '../custom-attributes/index.ts'
import { basicUser, BasicUser, type BasicUserEntity, type BasicUserRow } from './basic.ts'

/** What a user tells of himself; the keys of `users.profile` and of the parameters that set them. */
export const profileFields = [
  'bio',
  'location',
  'linkedin',
  'twitter',
  'discord',
  'website_url',
  'github',
  'job_title',
  'pronouns',
  'organization',
] as const
/** Also kept in `users.profile`, and shown only to the user and to administrators. */
export const preferenceFields = [
  'theme_id',
  'color_scheme_id',
  'view_diffs_file_by_file',
  'preferred_language',
] as const

export type Profile = Readonly<Record<string, string | number | boolean | null>>

const toEverybody = {
  ...BasicUser.properties,
  created_at: Optional(Timestamp()),
  bio: Nullable(Text()),
  location: Nullable(Text()),
  linkedin: Nullable(Text()),
  twitter: Nullable(Text()),
  discord: Nullable(Text()),
  website_url: Nullable(Text()),
  github: Nullable(Text()),
  job_title: Nullable(Text()),
  pronouns: Nullable(Text()),
  organization: Nullable(Text()),
  bot: Flag(),
  work_information: Nullable(Text()),
  followers: Optional(Int()),
  following: Optional(Int()),
  is_followed: Optional(Flag()),
  local_time: Nullable(Text()),
}

/** What others see. Of a private profile `created_at` and the followers are missing. */
export const ProfileUser = Fields(toEverybody)

const toSelf = {
  ...toEverybody,
  last_sign_in_at: Nullable(Timestamp()),
  confirmed_at: Nullable(Timestamp()),
  last_activity_on: Nullable(DateOnly()),
  email: Text(),
  theme_id: Int(),
  color_scheme_id: Int(),
  projects_limit: Int(),
  current_sign_in_at: Nullable(Timestamp()),
  identities: ListOf(Json()),
  can_create_group: Flag(),
  can_create_project: Flag(),
  two_factor_enabled: Flag(),
  external: Flag(),
  private_profile: Flag(),
  commit_email: Text(),
  preferred_language: Text(),
}

/** What a user sees of himself. */
export const OwnUser = Fields(toSelf)

const toAdministrators = {
  ...toSelf,
  is_admin: Flag(),
  note: Nullable(Text()),
  namespace_id: Nullable(Id()),
  created_by: Nullable(BasicUser),
}

/** What administrators see in lists, and of themselves. */
export const AdminUser = Fields({ ...toAdministrators, custom_attributes: Optional(ListOf(CustomAttribute)) })

/** What administrators see of one user. */
export const AdminUserDetail = Fields({
  ...toAdministrators,
  current_sign_in_ip: Nullable(Text()),
  last_sign_in_ip: Nullable(Text()),
  sign_in_count: Int(),
  highest_role: Int({ description: 'Highest access level of all direct memberships; 0 without any' }),
  plan: Optional(Text({ description: 'Of the instance, when it is a paid one' })),
  trial: Optional(Flag()),
  using_license_seat: Optional(Flag({ description: 'On the top plan guests are free' })),
  is_auditor: Optional(Flag()),
  custom_attributes: Optional(ListOf(CustomAttribute)),
})

/** A row with all that the long forms need. */
export interface UserRow extends BasicUserRow {
  readonly email: string
  readonly commit_email: string | null
  readonly kind: string
  readonly admin: boolean
  readonly external: boolean
  readonly private_profile: boolean
  readonly can_create_group: boolean
  readonly can_create_project: boolean
  readonly projects_limit: number
  readonly profile: Profile
  readonly note: string | null
  readonly confirmed_at: Date | string | null
  readonly last_activity_on: string | null
  readonly created_at: Date | string
  readonly namespace_id: number | null
  readonly created_by: BasicUserRow | null
  /** Who the user is elsewhere. */
  readonly identities: readonly unknown[]
  readonly two_factor_enabled: boolean
  readonly last_sign_in_at: Date | string | null
  readonly current_sign_in_at: Date | string | null
  readonly current_sign_in_ip: string | null
  readonly last_sign_in_ip: string | null
  readonly sign_in_count: number
  readonly followers: number
  readonly following: number
  readonly is_followed: boolean
  /** Where they are asked for. */
  readonly custom_attributes?: readonly Attribute[]
}

export interface UserDetailRow extends UserRow {
  readonly highest_role: number
  /** A member somewhere with more than a guest has; to read code with a custom role is no more. */
  readonly above_guest: boolean
}

export function profileUser(row: UserRow, externalUrl: string, { hidden }: { hidden: boolean }) {
  const text = (field: (typeof profileFields)[number]): string | null =>
    (row.profile[field] as string | undefined) ?? null
  return {
    ...basicUser(row, externalUrl),
    ...(!hidden && { created_at: row.created_at }),
    ...(Object.fromEntries(profileFields.map((field) => [field, text(field)])) as Record<
      (typeof profileFields)[number],
      string | null
    >),
    bot: row.kind !== 'human',
    work_information: workInformation(text('job_title'), text('organization')),
    ...(!hidden && { followers: row.followers, following: row.following, is_followed: row.is_followed }),
    local_time: null,
  }
}

/** Of pages and of code: the first of each kind. */
const usualTheme = 1

/** `noReply`: the host of private addresses. */
export function ownUser(row: UserRow, externalUrl: string, noReply: string) {
  return {
    ...profileUser(row, externalUrl, { hidden: false }),
    last_sign_in_at: row.last_sign_in_at,
    confirmed_at: row.confirmed_at,
    last_activity_on: row.last_activity_on,
    email: row.email,
    theme_id: row.profile['theme_id'] ?? usualTheme,
    color_scheme_id: row.profile['color_scheme_id'] ?? usualTheme,
    // What an external user may not is kept for the day that he is one no more.
    projects_limit: row.external ? 0 : row.projects_limit,
    current_sign_in_at: row.current_sign_in_at,
    identities: row.identities,
    can_create_group: row.can_create_group && !row.external,
    can_create_project: row.can_create_project,
    two_factor_enabled: row.two_factor_enabled,
    external: row.external,
    private_profile: row.private_profile,
    commit_email:
      row.commit_email === privateAddress
        ? `${row.id}-${row.username}@${noReply}`
        : (row.commit_email ?? row.email),
    preferred_language: row.profile['preferred_language'] ?? 'en',
  }
}

export function adminUser(row: UserRow, externalUrl: string, noReply: string) {
  return {
    ...ownUser(row, externalUrl, noReply),
    is_admin: row.admin,
    note: row.note,
    namespace_id: row.namespace_id,
    created_by: row.created_by && basicUser(row.created_by, externalUrl),
    ...(row.custom_attributes !== undefined && { custom_attributes: row.custom_attributes }),
  }
}

export function adminUserDetail(row: UserDetailRow, externalUrl: string, noReply: string, plan: Plan) {
  return {
    ...adminUser(row, externalUrl, noReply),
    current_sign_in_ip: row.current_sign_in_ip,
    last_sign_in_ip: row.last_sign_in_ip,
    sign_in_count: row.sign_in_count,
    highest_role: row.highest_role,
    ...(offers(plan, 'seats') && seat(row, plan)),
  }
}

/** Plans are not given for a trial here, and nobody audits without being an administrator. */
function seat({ kind, state, above_guest: above }: UserDetailRow, plan: Plan) {
  const counts = kind === 'human' && state === 'active'
  return {
    plan,
    trial: false,
    using_license_seat: counts && (!offers(plan, 'free_guests') || above),
    is_auditor: false,
  }
}

function workInformation(title: string | null, organization: string | null): string | null {
  if (title !== null && organization !== null) return `${title} at ${organization}`
  return title ?? organization
}

export type { BasicUserEntity }
