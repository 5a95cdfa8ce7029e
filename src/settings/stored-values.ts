import type { Plan } from '../kernel/config/index.ts'
import type { Cipher } from '../kernel/lib/secrets.ts'
import { isIncluded } from './change.ts'
import {
  catalogue,
  defaults,
  isSettingName,
  type SettingName,
  type SettingValues,
} from './catalogue/index.ts'
import type { Setting } from './setting.ts'
import type { StoredSetting } from './store.ts'

/* Settings as they lie in the database: a row only for what is not the default, and secrets sealed. */

export function toStored(name: SettingName, value: unknown, cipher: Cipher): unknown {
  return isSecret(name) && typeof value === 'string' ? cipher.seal(value, contextOf(name)) : value
}

/** The value of what is stored. A secret that the present key does not open is lost: it has to be set again. */
export function fromStored(name: SettingName, stored: unknown, cipher: Cipher): unknown {
  if (!isSecret(name) || typeof stored !== 'string') return stored
  return cipher.tryOpen(stored, contextOf(name)) ?? null
}

export function isSecret(name: SettingName): boolean {
  return (catalogue[name] as Setting).secret === true
}

/** The place that a secret is sealed for. */
function contextOf(name: SettingName): string {
  return `application_settings.${name}`
}

/** All settings, by what is stored: rows of a newer version are left alone, and what the plan lacks has its default. */
export function valuesOf(rows: readonly StoredSetting[], plan: Plan, cipher: Cipher): SettingValues {
  const known = rows.flatMap(({ name, value }) =>
    isSettingName(name) && isIncluded(name, plan) ? [[name, fromStored(name, value, cipher)]] : [],
  )
  return { ...defaults, ...(Object.fromEntries(known) as Partial<SettingValues>) }
}
