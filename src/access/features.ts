import { FeatureLevel, Role } from './levels.ts'

/** Features of a project that can be limited to members or switched off, with the level of a new project. */
export const defaultFeatureLevels = {
  issues: FeatureLevel.enabled,
  repository: FeatureLevel.enabled,
  merge_requests: FeatureLevel.enabled,
  forking: FeatureLevel.enabled,
  wiki: FeatureLevel.enabled,
  builds: FeatureLevel.enabled,
  snippets: FeatureLevel.enabled,
  pages: FeatureLevel.private,
  analytics: FeatureLevel.enabled,
  container_registry: FeatureLevel.enabled,
  security_and_compliance: FeatureLevel.private,
  releases: FeatureLevel.enabled,
  environments: FeatureLevel.enabled,
  feature_flags: FeatureLevel.enabled,
  infrastructure: FeatureLevel.enabled,
  monitor: FeatureLevel.enabled,
  model_experiments: FeatureLevel.enabled,
  model_registry: FeatureLevel.enabled,
  package_registry: FeatureLevel.enabled,
  requirements: FeatureLevel.enabled,
} as const satisfies Record<string, number>

export type Feature = keyof typeof defaultFeatureLevels
export const features = Object.keys(defaultFeatureLevels) as Feature[]

/** Whether a feature is open to somebody with this role in a project that he sees. */
export function isOpenTo(level: number, role: number): boolean {
  return level >= FeatureLevel.enabled || (level > FeatureLevel.disabled && role >= Role.guest)
}
