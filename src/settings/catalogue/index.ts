import type { Static } from '../../kernel/endpoint/types.ts'
import { ciSettings } from './ci.ts'
import { collaborationSettings } from './collaboration.ts'
import { networkSettings } from './network.ts'
import { projectSettings } from './projects.ts'
import { registrySettings } from './registry.ts'
import { runnerSettings } from './runners.ts'
import { renderingSettings } from './rendering.ts'
import { repositorySettings } from './repositories.ts'
import { tokenSettings } from './tokens.ts'
import { userSettings } from './users.ts'

/** Every instance setting there is. */
export const catalogue = {
  ...projectSettings,
  ...ciSettings,
  ...networkSettings,
  ...registrySettings,
  ...runnerSettings,
  ...repositorySettings,
  ...tokenSettings,
  ...userSettings,
  ...renderingSettings,
  ...collaborationSettings,
} as const

export type SettingName = keyof typeof catalogue
export type SettingValues = { readonly [Name in SettingName]: Static<(typeof catalogue)[Name]['schema']> }

export const defaults = Object.fromEntries(
  Object.entries(catalogue).map(([name, { fallback }]) => [name, fallback]),
) as unknown as SettingValues
