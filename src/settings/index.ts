export {
  catalogue,
  defaults,
  isSettingName,
  sections,
  settingNames,
  type SettingName,
  type SettingValues,
} from './catalogue/index.ts'
export type { Appearance } from './appearance.ts'
export { branchProtectionOf } from './branch-protection.ts'
export { acceptedNames, isIncluded } from './change.ts'
export { companionsOf } from './companions.ts'
export { flags, stateOf, type FlagName, type Gates, type StoredGates } from './flags.ts'
export { addresses, httpUrl } from './formats.ts'
export { entriesOf } from './kinds.ts'
export { BranchProtection, type BranchProtectionDefaults } from './objects.ts'
export { oldNames } from './old-names.ts'
export { outboundRules } from './outbound-rules.ts'
export type { RuleContext } from './rules.ts'
export type { Setting } from './setting.ts'
export { Settings, type Changed } from './settings.ts'
export {
  planLimitNames,
  planLimits,
  type PlanLimitName,
  type PlanLimits,
  type StoredLimits,
} from './plan-limits.ts'
export { enforcedTerms, type Terms } from './terms.ts'
export { signInSwitches } from './sign-in-switches.ts'
export { isSecret } from './stored-values.ts'
