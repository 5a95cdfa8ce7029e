import {
  Flag,
  Int,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Static,
  type TSchema,
} from '../../kernel/endpoint/index.ts'
import { BranchProtection, branchProtectionOf, type BranchProtectionDefaults } from '../../settings/index.ts'

/** One setting of a group. Parameters, storage and the fields of answers derive from its row. */
export interface GroupSetting<T extends TSchema = TSchema> {
  readonly schema: T
  /** What holds while nothing else was chosen; only other values are stored. */
  readonly fallback: Static<T>
  /** `detail`: not in lists. */
  readonly shown: 'everywhere' | 'detail'
  /** `update`: not taken when a group is created. */
  readonly on: 'create and update' | 'update'
  /** Only with a paid plan. */
  readonly paid: boolean
}

type Options = Partial<Pick<GroupSetting, 'shown' | 'on' | 'paid'>>

function setting<T extends TSchema>(schema: T, fallback: Static<T>, options: Options = {}): GroupSetting<T> {
  return { schema, fallback, shown: 'everywhere', on: 'create and update', paid: false, ...options }
}

const later: Options = { on: 'update' }

/** Every setting of a group that is one stored value. */
export const groupSettings = {
  share_with_group_lock: setting(Flag(), false),
  require_two_factor_authentication: setting(Flag(), false),
  two_factor_grace_period: setting(Int({ minimum: 0, description: 'In hours' }), 48),
  project_creation_level: setting(
    OneOf('noone', 'owner', 'maintainer', 'developer', 'administrator'),
    'developer',
  ),
  auto_devops_enabled: setting(Nullable(Flag()), null),
  subgroup_creation_level: setting(OneOf('owner', 'maintainer'), 'maintainer'),
  emails_enabled: setting(Flag(), true),
  show_diff_preview_in_email: setting(Flag(), true),
  mentions_disabled: setting(Nullable(Flag()), null),
  lfs_enabled: setting(Flag(), true),
  default_branch: setting(Nullable(Text({ description: 'First branch of new projects' })), null),
  request_access_enabled: setting(Flag(), true),
  shared_runners_setting: setting(
    OneOf('enabled', 'disabled_and_overridable', 'disabled_and_unoverridable'),
    'enabled',
    later,
  ),
  max_artifacts_size: setting(Nullable(Int({ minimum: 1, description: 'In MiB' })), null, later),
  math_rendering_limits_enabled: setting(Flag(), true, later),
  lock_math_rendering_limits_enabled: setting(Flag(), false, later),
  file_template_project_id: setting(Nullable(Int()), null, { on: 'update', paid: true }),
  wiki_access_level: setting(OneOf('disabled', 'private', 'enabled'), 'enabled', { paid: true }),

  enabled_git_access_protocol: setting(OneOf('ssh', 'http', 'all'), 'all', { on: 'update', shown: 'detail' }),
  prevent_sharing_groups_outside_hierarchy: setting(Flag(), false, { on: 'update', shown: 'detail' }),
  prevent_forking_outside_group: setting(Nullable(Flag()), null, {
    on: 'update',
    shown: 'detail',
    paid: true,
  }),
  membership_lock: setting(Flag(), false, { shown: 'detail', paid: true }),
  ip_restriction_ranges: setting(Nullable(Text()), null, { on: 'update', shown: 'detail', paid: true }),
} as const satisfies Record<string, GroupSetting>

export type GroupSettingName = keyof typeof groupSettings
export type GroupSettings = {
  -readonly [Name in GroupSettingName]: Static<(typeof groupSettings)[Name]['schema']>
}

const rows = Object.entries(groupSettings) as [GroupSettingName, GroupSetting][]

export const settingDefaults = Object.fromEntries(
  rows.map(([name, { fallback }]) => [name, fallback]),
) as unknown as GroupSettings

/** Parameters whose names are data: handlers hand all they got to `changeSettings`, which knows them. */
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- nothing is known to the type checker
type Named = Record<never, TSchema>

export { BranchProtection as ProtectionDefaults }
export type Protection = BranchProtectionDefaults

/** The settings as parameters of a request that creates or of one that updates. */
export function settingParams(when: 'create' | 'update'): Named {
  const taken = rows.filter(([, { on }]) => when === 'update' || on === 'create and update')
  return {
    ...Object.fromEntries(taken.map(([name, { schema }]) => [name, Optional(schema)])),
    emails_disabled: Optional(Flag({ deprecated: true, description: 'Use `emails_enabled`' })),
    default_branch_protection: Optional(
      OneOf([0, 1, 2, 3, 4], {
        deprecated: true,
        description: 'Use `default_branch_protection_defaults`, of which these are five kinds',
      }),
    ),
    default_branch_protection_defaults: Optional(BranchProtection),
  }
}

/** What is asked for but the protection of branches, for those who may not change that. */
export function withoutProtection<Params extends object>(params: Params): Params {
  return { ...params, default_branch_protection: undefined, default_branch_protection_defaults: undefined }
}

/** What is stored of a group's settings; `default_branch_protection_defaults` is absent while the instance decides. */
export interface StoredSettings extends Partial<GroupSettings> {
  default_branch_protection_defaults?: Protection
}

/** What the parameters make of what was stored. What is not given stays; only what differs from the defaults is kept. */
export function changeSettings(
  before: StoredSettings,
  params: Readonly<Record<string, unknown>>,
): StoredSettings {
  const after: Record<string, unknown> = { ...before }
  for (const [name] of rows) if (params[name] !== undefined) after[name] = params[name]
  if (params['emails_enabled'] === undefined && typeof params['emails_disabled'] === 'boolean') {
    after['emails_enabled'] = !params['emails_disabled']
  }
  const kind = params['default_branch_protection']
  const protection = params['default_branch_protection_defaults']
  if (protection !== undefined) after['default_branch_protection_defaults'] = protection
  else if (typeof kind === 'number') {
    after['default_branch_protection_defaults'] = branchProtectionOf(kind)
  }
  const defaults = settingDefaults as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name])),
  )
}

/** The number that comes closest, for older clients. */
export function protectionKind(protection: Protection): number {
  const developers = (entries: Protection['allowed_to_push']) =>
    entries?.some(({ access_level }) => access_level === 30) === true
  if (protection.allow_force_push === true) return 0
  if (developers(protection.allowed_to_push)) return 1
  if (developers(protection.allowed_to_merge)) return 3
  return protection.developer_can_initial_push === true ? 4 : 2
}

/** The fields of answers. */
export function settingFields(shown: GroupSetting['shown']): Named {
  const these = rows.filter(([, setting]) => setting.shown === shown)
  return Object.fromEntries(these.map(([name, { schema, paid }]) => [name, paid ? Optional(schema) : schema]))
}

/** The values for an answer; those that need a paid plan are left out without one. */
export function shownSettings(stored: StoredSettings, paid: boolean): Partial<GroupSettings> {
  const values = { ...settingDefaults, ...stored }
  const shown = rows.filter(([, setting]) => !setting.paid || paid)
  return Object.fromEntries(shown.map(([name]) => [name, values[name]]))
}
