export { catalogue, defaults, type SettingName, type SettingValues } from './catalogue/index.ts'
export { Settings } from './settings.ts'
