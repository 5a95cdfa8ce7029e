import type { Plan } from '../../kernel/config/index.ts'
import {
  Fields,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import {
  catalogue,
  isIncluded,
  isSecret,
  oldNames,
  settingNames,
  signInSwitches,
  type Changed,
  type Setting,
  type SettingName,
  type SettingValues,
} from '../../settings/index.ts'

const rows = settingNames.map((name) => [name, catalogue[name] as Setting] as const)
const shownRows = rows.filter(([, { secret, shown }]) => !secret || shown)

/** The settings object: every setting that is no secret, and what older clients look for. */
export const ApplicationSettings = Fields({
  id: Int(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  ...Object.fromEntries(
    shownRows.map(([name, { schema, plan }]) => [name, plan === undefined ? schema : Optional(schema)]),
  ),
  ...Object.fromEntries(
    Object.entries(oldNames)
      .filter(([, { shown }]) => shown !== undefined)
      .map(([name, { of }]) => [name, of === undefined ? Json() : (catalogue[of] as Setting).schema]),
  ),
  ...Object.fromEntries(signInSwitches.map((name) => [name, Json()])),
  ...Object.fromEntries(
    shownRows.flatMap(([, { vendor, schema }]) => (vendor === undefined ? [] : [[vendor, Optional(schema)]])),
  ),
})

export interface EntityContext {
  readonly plan: Plan
  readonly storages: readonly string[]
  readonly externalUrl: () => string
  readonly vendorFieldNames: boolean
}

export interface RecordTimes {
  readonly created_at: Date | string
  readonly updated_at: Date | string
}

export function applicationSettings(
  stored: SettingValues,
  { created_at, updated_at }: RecordTimes,
  { plan, storages, externalUrl, vendorFieldNames }: EntityContext,
): Record<string, unknown> {
  const ownHost = new URL(externalUrl()).hostname
  const { asset_proxy_allowlist: allowed, repository_storages_weighted: weights } = stored
  const values: SettingValues = {
    ...stored,
    asset_proxy_allowlist: allowed.includes(ownHost) ? allowed : [...allowed, ownHost],
    repository_storages_weighted: Object.fromEntries(storages.map((name) => [name, weights[name] ?? 0])),
  }
  const entity: Record<string, unknown> = { id: 1, created_at, updated_at }
  for (const [name, { vendor }] of shownRows) {
    if (!isIncluded(name, plan)) continue
    entity[name] = values[name]
    if (vendor !== undefined && vendorFieldNames) entity[vendor] = values[name]
  }
  for (const [name, { shown }] of Object.entries(oldNames)) {
    if (shown !== undefined) entity[name] = shown(values)
  }
  for (const name of signInSwitches) entity[name] = values.sign_in_restrictions[name] ?? false
  return entity
}

export const ChangedSetting = Fields({
  name: Text(),
  from: Json({ description: 'Null where it is a secret' }),
  to: Json({ description: 'Null where it is a secret' }),
  secret: Optional(Json({ description: '`true` for a setting whose values are never shown' })),
})

export const ForeseenChange = Fields({
  dry_run: Json(),
  changes: ListOf(
    Fields({
      ...ChangedSetting.properties,
      effect: Text({ description: 'What the setting does' }),
      warning: Optional(Text()),
    }),
  ),
})

export const Revision = Fields({
  id: Int(),
  created_at: Timestamp(),
  user: Nullable(Fields({ id: Int(), username: Text(), name: Text() })),
  restores: Nullable(Int({ description: 'The revision whose state this one brought back' })),
  changes: ListOf(ChangedSetting),
})

export function changedSetting({ name, before, after }: Changed): Record<string, unknown> {
  return isSecret(name) ? { name, from: null, to: null, secret: true } : { name, from: before, to: after }
}

/** What a change would do; with a word about those that shut people out. */
export function foreseenChange(changes: readonly Changed[]): Record<string, unknown> {
  return {
    dry_run: true,
    changes: changes.map((change) => {
      const warning = change.after === true ? warnings[change.name] : undefined
      return {
        ...changedSetting(change),
        effect: (catalogue[change.name] as Setting).about,
        ...(warning !== undefined && { warning }),
      }
    }),
  }
}

const warnings: Partial<Record<SettingName, string>> = {
  admin_mode: 'Tokens of administrators without the scope admin_mode are refused here from then on.',
  enforce_terms: 'Everybody but for this resource is refused until they accept the terms in the browser.',
  disable_personal_access_tokens:
    'Every personal access token ends to work, yours too, and no call of the API undoes it.',
  maintenance_mode: 'Everything that writes is refused, but for this resource.',
  unique_ips_limit_enabled: 'Administrators are counted as everybody else.',
}
