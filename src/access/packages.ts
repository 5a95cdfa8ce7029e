import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import type { Actor } from './actor.ts'
import { packageReaders as readingScopes } from './deploy-token.ts'
import { defaultFeatureLevels } from './features.ts'
import { FeatureLevel, Role, Visibility } from './levels.ts'
import { project, visibleByLevel } from './subjects.ts'
import { projectVisible } from './visible.ts'

function levelOf(levels: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce((${levels} ->> 'package_registry')::int, ${sql.lit(defaultFeatureLevels.package_registry)})`
}

/** Read with the rows it decides about, so that a switch works at once on all nodes; without a row it is the default. */
const openingAllowed = sql`coalesce((
  select s.value = 'true' from application_settings s
  where s.name = 'package_registry_allow_anyone_to_pull_option'), true)`

function openToAll(levels: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${levelOf(levels)} >= ${sql.lit(FeatureLevel.public)} and ${openingAllowed})`
}

/** A project whose packages are read: where they are for everybody, it need not be visible itself. */
export const packageProject: typeof project = {
  ...project,
  find: (lookup) => sql`
    select found.*, ${openToAll(sql`found.feature_levels`)} as packages_for_all from (${project.find!(lookup)}) found`,
  version: sql`subject.version || '.' || subject.packages_for_all`,
  visible: sql`(${visibleByLevel} or subject.packages_for_all)`,
}

const level = levelOf(sql`p.feature_levels`)

/** The ability `read_package` in SQL, of project `p` of namespace `n`, in lists that `projectLevels` is joined to. */
export const packagesReadable = sql`(
  ${openToAll(sql`p.feature_levels`)} or (
    ${projectVisible} and ${level} > ${sql.lit(FeatureLevel.disabled)} and (
      actor.admin or access.role >= ${sql.lit(Role.reporter)}
      or (${level} >= ${sql.lit(FeatureLevel.enabled)} and p.visibility > ${sql.lit(Visibility.private)}))))`

/** As `packagesReadable`, for callers who may be a job or a deploy token, of which the rows of `actor` say nothing. */
export function packagesReadableBy({ deployToken, job }: Actor): RawBuilder<unknown> {
  if (deployToken !== undefined) {
    const scoped = deployToken.scopes.some((scope) => readingScopes.includes(scope))
    const reached = sql`(p.id = ${deployToken.projectId}::bigint or ${deployToken.namespaceId}::bigint = any (n.traversal_ids))`
    return sql`case when ${reached} is true
      then ${scoped}::boolean and ${level} > ${sql.lit(FeatureLevel.disabled)} else ${packagesReadable} end`
  }
  if (job === null) return packagesReadable
  const jobProject = sql`${job.projectId}::bigint`
  return sql`(${packagesReadable} and (
    p.visibility > ${sql.lit(Visibility.private)} or p.id = ${jobProject}
    or exists (select from (select p.id, p.settings) subject where ${project.openToJob!(jobProject)})))`
}
