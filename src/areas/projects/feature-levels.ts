import { defaultFeatureLevels, FeatureLevel, features, type Feature } from '../../access/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { Flag, OneOf, Optional, type TSchema } from '../../kernel/endpoint/index.ts'
import type { Named } from './settings.ts'

export type FeatureLevels = Readonly<Record<Feature, number>>

const levelName = Object.fromEntries(Object.entries(FeatureLevel).map(([name, level]) => [level, name]))

/** Features that may be open to everyone, whatever the visibility of the project. */
const openable: readonly Feature[] = ['pages', 'package_registry']

function levelSchema(feature: Feature): TSchema {
  return openable.includes(feature)
    ? OneOf('disabled', 'private', 'enabled', 'public')
    : OneOf('disabled', 'private', 'enabled')
}

/** `issues_access_level` and its like, as fields of an answer. */
export const levelFields: Named = Object.fromEntries(
  features.map((feature) => [`${feature}_access_level`, levelSchema(feature)]),
)

/** The flags of older clients; each stands for a level. */
const oldFlags = {
  issues_enabled: 'issues',
  merge_requests_enabled: 'merge_requests',
  jobs_enabled: 'builds',
  builds_enabled: 'builds',
  wiki_enabled: 'wiki',
  snippets_enabled: 'snippets',
  container_registry_enabled: 'container_registry',
  packages_enabled: 'package_registry',
} as const satisfies Record<string, Feature>

/** The levels and the old flags as parameters, to be handed to `changeLevels`. */
export const levelParams: Named = {
  ...Object.fromEntries(
    features.map((feature) => [`${feature}_access_level`, Optional(levelSchema(feature))]),
  ),
  ...Object.fromEntries(Object.keys(oldFlags).map((name) => [name, Optional(Flag({ deprecated: true }))])),
}

/** What the parameters make of the levels there were. A level by name wins over the old flag. */
export function changeLevels(
  before: FeatureLevels,
  params: Readonly<Record<string, unknown>>,
): FeatureLevels {
  const levels: Record<Feature, number> = { ...before }
  const chosen = new Set<Feature>()
  for (const [flag, feature] of Object.entries(oldFlags)) {
    if (typeof params[flag] !== 'boolean') continue
    levels[feature] = params[flag] ? FeatureLevel.enabled : FeatureLevel.disabled
    chosen.add(feature)
  }
  for (const feature of features) {
    const name = params[`${feature}_access_level`]
    if (typeof name !== 'string') continue
    levels[feature] = FeatureLevel[name as keyof typeof FeatureLevel]
    chosen.add(feature)
  }
  return limitByRepository(levels, chosen)
}

/** Merge requests and builds work on the repository: they are open to nobody to whom it is closed. */
function limitByRepository(levels: Record<Feature, number>, chosen: ReadonlySet<Feature>): FeatureLevels {
  const faults: Record<string, string[]> = {}
  for (const feature of ['merge_requests', 'builds'] as const) {
    if (levels[feature] <= levels.repository) continue
    if (chosen.has(feature)) {
      faults[`project_feature.${feature}_access_level`] = [
        'cannot have higher visibility level than repository access level',
      ]
    }
    levels[feature] = levels.repository
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return levels
}

/** What is to be stored: the levels that differ from the defaults. */
export function storedLevels(levels: FeatureLevels): Partial<FeatureLevels> {
  return Object.fromEntries(
    features
      .filter((feature) => levels[feature] !== defaultFeatureLevels[feature])
      .map((feature) => [feature, levels[feature]]),
  )
}

/** The levels as an answer shows them. */
export function levelNames(levels: FeatureLevels): Record<string, string> {
  return Object.fromEntries(
    features.map((feature) => [`${feature}_access_level`, levelName[levels[feature]]!]),
  )
}
