import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import { defaultFeatureLevels, type Feature } from './features.ts'
import { FeatureLevel, Role } from './levels.ts'
import { groupVisible, memberGroups, memberProjects, projectVisible } from './visible.ts'

/*
 * Who may see issues and epics, as SQL: for lists, single reads, counts, links and references alike. It works on
 * `actor` and on an issue `i` or an epic `e`.
 */

/** From this role on members see what is confidential; others what they wrote or are assigned to. */
export const confidentialReader = Role.planner

/** Whether a feature is open to somebody who sees the project; `levels`: what the project keeps of feature levels. */
export function featureOpen(
  feature: Feature,
  levels: RawBuilder<unknown>,
  member: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const level = sql`coalesce((${levels} ->> ${sql.lit(feature)})::int, ${sql.lit(defaultFeatureLevels[feature])})`
  return sql`(
    ${level} >= ${sql.lit(FeatureLevel.enabled)}
    or ${level} > ${sql.lit(FeatureLevel.disabled)} and (actor.admin or ${member}))`
}

function notSecret(reader: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    not i.confidential or actor.admin or i.author_id = actor.id or ${reader}
    or exists (select from issue_assignees assigned where assigned.issue_id = i.id and assigned.user_id = actor.id))`
}

/** Issue `i` of the project that the request is about. */
export const issueVisible = sql`(
  ${featureOpen('issues', sql`subject.feature_levels`, sql`membership.role >= ${sql.lit(Role.guest)}`)}
  and ${notSecret(sql`membership.role >= ${sql.lit(confidentialReader)}`)})`

/** Issue `i` of any project `p`, which is to be joined. */
export const issueVisibleAnywhere = sql`(
  ${projectVisible} and ${featureOpen('issues', sql`p.feature_levels`, sql`p.id in (${memberProjects()})`)}
  and ${notSecret(sql`p.id in (${memberProjects(confidentialReader)})`)})`

function notSecretEpic(reader: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(not e.confidential or actor.admin or ${reader})`
}

/** Epic `e` of the group that the request is about. */
export const epicVisible = notSecretEpic(sql`membership.role >= ${sql.lit(confidentialReader)}`)

/** Epic `e` of any group `n`, which is to be joined. */
export const epicVisibleAnywhere = sql`(
  ${groupVisible} and ${notSecretEpic(sql`n.id in (${memberGroups(confidentialReader)})`)})`
