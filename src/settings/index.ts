export { catalogue, defaults, type SettingName, type SettingValues } from './catalogue/index.ts'
export { Settings } from './settings.ts'
export { flags, type FlagName } from './flags.ts'
export { outboundRules } from './outbound-rules.ts'
