import { invalidParameters } from '../kernel/errors/index.ts'
import { includesPlan, type Plan } from '../kernel/config/index.ts'
import { branchProtectionOf } from './branch-protection.ts'
import {
  catalogue,
  isSettingName,
  settingNames,
  type SettingName,
  type SettingValues,
} from './catalogue/index.ts'
import { checkCompanions } from './companions.ts'
import { Faults } from './faults.ts'
import { entriesOf, flag } from './kinds.ts'
import { oldNames } from './old-names.ts'
import { signInSwitches } from './sign-in-switches.ts'
import type { Setting } from './setting.ts'

type Bag = Readonly<Record<string, unknown>>
export type Change = Partial<SettingValues>

const byVendorName = new Map(
  settingNames.flatMap((name) => {
    const { vendor } = catalogue[name] as Setting
    return vendor === undefined ? [] : [[vendor, name] as const]
  }),
)
const exclusive = [
  'password_authentication_enabled_for_web',
  'signin_enabled',
  'password_authentication_enabled',
]
const anySwitch = flag(false, '')

/** Every name that a change may use, for the refusal of one that uses none. */
export const acceptedNames: readonly string[] = [
  ...settingNames,
  ...Object.keys(oldNames),
  ...signInSwitches,
  'performance_bar_enabled',
]
const accepted = new Set([...acceptedNames, ...byVendorName.keys()])

/** Whether a setting is there under a plan. */
export function isIncluded(name: SettingName, plan: Plan): boolean {
  return includesPlan(plan, (catalogue[name] as Setting).plan ?? 'free')
}

/**
 * The values that a request asks for, each checked by itself, under the present names. What the plan does not include
 * is ignored, and so is what nobody knows; a request of nothing else than that is refused.
 */
export function readChange(sent: Bag, plan: Plan, faults: Faults): Change {
  const given = Object.keys(sent).filter((name) => sent[name] !== undefined)
  const known = given.filter((name) => accepted.has(name))
  if (known.length === 0) {
    throw invalidParameters([
      `${acceptedNames.join(', ')} are missing, at least one parameter must be provided`,
    ])
  }
  const several = exclusive.filter((name) => known.includes(name))
  if (several.length > 1) faults.parameter(`${several.join(', ')} are mutually exclusive`)

  const change: Record<string, unknown> = {}
  const take = (name: SettingName, sentAs: string, as: Pick<Setting, 'take'> = catalogue[name]): void => {
    if (!isIncluded(name, plan)) return
    const value = as.take(sent[sentAs], sentAs, faults)
    if (value !== undefined) change[name] = value
  }
  // Present names come last, so that they win.
  for (const sentAs of known) {
    const old = oldNames[sentAs]
    const name = byVendorName.get(sentAs) ?? old?.of
    if (name !== undefined) take(name, sentAs, old?.as)
    else old?.as?.take(sent[sentAs], sentAs, faults)
  }
  if (sent['performance_bar_enabled'] !== undefined) {
    if (anySwitch.take(sent['performance_bar_enabled'], 'performance_bar_enabled', faults) === false) {
      change['performance_bar_allowed_group_id'] = null
    }
  }
  for (const name of known) if (isSettingName(name)) take(name, name)
  checkCompanions(change, new Set(known.map((name) => byVendorName.get(name) ?? name)), faults)
  return change
}

/** Switches of sign-in that were sent by themselves, not within their object. */
export function readSignInSwitches(
  sent: Bag,
  faults: Faults,
): Partial<SettingValues['sign_in_restrictions']> {
  const entries = signInSwitches
    .filter((name) => sent[name] !== undefined)
    .map((name) => [name, anySwitch.take(sent[name], name, faults)])
  return Object.fromEntries(entries) as Partial<SettingValues['sign_in_restrictions']>
}

const assetProxy = [
  'asset_proxy_enabled',
  'asset_proxy_url',
  'asset_proxy_secret_key',
  'asset_proxy_allowlist',
] as const

/** What follows from a change by itself, in other settings. */
export function withConsequences(
  change: Change,
  before: SettingValues,
  faults: Faults,
  signInSources: readonly string[],
): Change {
  const after: { -readonly [Name in SettingName]?: SettingValues[Name] } = { ...change }
  if (change.default_branch_protection !== undefined && !change.default_branch_protection_defaults) {
    after.default_branch_protection_defaults = branchProtectionOf(change.default_branch_protection)
  }
  if (change.enabled_git_access_protocol === 'all') after.enabled_git_access_protocol = ''
  if (change.default_branch_name) {
    after.default_branch_name = change.default_branch_name.replaceAll(/<[^>]*>/g, '').trim() || null
  }
  if (change.terms !== undefined) {
    // Blank ones stand for no change: people have accepted those that are there.
    const terms = change.terms?.trim() ?? ''
    if (terms === '') delete after.terms
    else after.terms = terms
  }
  if (change.maintenance_mode === false) after.maintenance_mode_message = null
  if (change.outbound_local_requests_allowlist_raw !== undefined) {
    const name = 'outbound_local_requests_whitelist'
    const entries = entriesOf(change.outbound_local_requests_allowlist_raw)
    const list = catalogue[name].take(entries, name, faults)
    if (list !== undefined) after.outbound_local_requests_whitelist = list
  } else if (change.outbound_local_requests_whitelist !== undefined) {
    after.outbound_local_requests_allowlist_raw = change.outbound_local_requests_whitelist.join('\n')
  }
  // Unknown ones vanish, as they may belong to another configuration.
  if (change.disabled_oauth_sign_in_sources !== undefined) {
    after.disabled_oauth_sign_in_sources = change.disabled_oauth_sign_in_sources.filter((name) =>
      signInSources.includes(name),
    )
  }
  const rewritten = assetProxy.some((name) => name in change && !isSame(change[name], before[name]))
  if (rewritten && change.local_markdown_version === undefined) {
    after.local_markdown_version = (before.local_markdown_version + 1) % 65_536
  }
  return after
}

/** The settings of a change that have another value now. */
export function differences(change: Change, before: SettingValues): SettingName[] {
  return settingNames.filter((name) => name in change && !isSame(change[name], before[name]))
}

export function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b)
}

/** JSON that does not hang on the order of keys, which the database does not keep. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
