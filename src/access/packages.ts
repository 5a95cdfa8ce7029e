import { sql } from 'kysely'
import { defaultFeatureLevels } from './features.ts'
import { FeatureLevel, Role, Visibility } from './levels.ts'

const level = sql`coalesce((p.feature_levels ->> 'package_registry')::int, ${sql.lit(defaultFeatureLevels.package_registry)})`

/** The ability `read_package` in SQL, of project `p` that the caller sees, in lists that `projectLevels` is joined to. */
export const packagesOpen = sql`(
  ${level} > ${sql.lit(FeatureLevel.disabled)} and (
    actor.admin or access.role >= ${sql.lit(Role.reporter)}
    or (${level} >= ${sql.lit(FeatureLevel.enabled)} and p.visibility > ${sql.lit(Visibility.private)})))`
