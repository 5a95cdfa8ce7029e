import type { Setting } from '../setting.ts'
import { ciSettings } from './ci.ts'
import { importSettings } from './imports.ts'
import { integrationSettings } from './integrations.ts'
import { interfaceSettings } from './interface.ts'
import { keySettings } from './keys.ts'
import { limitSettings } from './limits.ts'
import { networkSettings } from './network.ts'
import { planSettings } from './plans.ts'
import { projectSettings } from './projects.ts'
import { registrySettings } from './registry.ts'
import { renderingSettings } from './rendering.ts'
import { repositorySettings } from './repositories.ts'
import { runnerSettings } from './runners.ts'
import { searchSettings } from './search.ts'
import { signInSettings } from './sign-in.ts'
import { signUpSettings } from './sign-up.ts'
import { mailSettings } from './spam-and-mail.ts'
import { throttleSettings } from './throttles.ts'
import { tokenSettings } from './tokens.ts'
import { userSettings } from './users.ts'

/** Every instance setting there is, under the one name it is stored by. */
export const catalogue = {
  ...signUpSettings,
  ...tokenSettings,
  ...signInSettings,
  ...mailSettings,
  ...runnerSettings,
  ...ciSettings,
  ...registrySettings,
  ...throttleSettings,
  ...limitSettings,
  ...importSettings,
  ...renderingSettings,
  ...keySettings,
  ...repositorySettings,
  ...networkSettings,
  ...projectSettings,
  ...userSettings,
  ...searchSettings,
  ...integrationSettings,
  ...planSettings,
  ...interfaceSettings,
} as const

/** The same, as people look for them: what belongs together, in an order to be read in. */
export const sections: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  'Signing in': signInSettings,
  'Signing up': signUpSettings,
  Users: userSettings,
  Tokens: tokenSettings,
  'SSH keys': keySettings,
  Projects: projectSettings,
  Repositories: repositorySettings,
  'CI/CD': ciSettings,
  Runners: runnerSettings,
  Registries: registrySettings,
  Text: renderingSettings,
  Search: searchSettings,
  'Imports and exports': importSettings,
  'Mail and spam': mailSettings,
  Integrations: integrationSettings,
  Network: networkSettings,
  Throttles: throttleSettings,
  Limits: limitSettings,
  'Paid plans': planSettings,
  Interface: interfaceSettings,
}

export type SettingName = keyof typeof catalogue
export type SettingValues = { readonly [Name in SettingName]: (typeof catalogue)[Name]['fallback'] }

export const settingNames = Object.keys(catalogue) as SettingName[]

export const defaults = Object.fromEntries(
  settingNames.map((name) => [name, catalogue[name].fallback]),
) as unknown as SettingValues

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(catalogue, name)
}
