import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import { Role } from './levels.ts'
import { readsInternalNotesOf, readsNoteable, type Readable } from './readers.ts'
import { memberGroups, memberProjects } from './visible.ts'

/** Noteables that to-dos are about. */
const kinds = ['Issue', 'MergeRequest', 'Epic', 'Commit'] as const

/** The role from which on somebody is asked to let people in. */
export const admittingRole = { group: Role.owner, project: Role.maintainer } as const

/**
 * Whether `actor` may still read what to-do `t` is about, `said` being the discussion of the note that made it. Of the
 * rest nothing is told him, not even that it is there.
 */
export const todoReadable = ((): RawBuilder<unknown> => {
  const readable = (kind: (typeof kinds)[number]): Readable => ({
    kind,
    id: sql`t.target_id`,
    projectId: sql`t.project_id`,
    namespaceId: sql`t.namespace_id`,
  })
  const cases = kinds.map((kind) => sql`when ${sql.lit(kind)} then ${readsNoteable(readable(kind))}`)
  return sql`(
    case t.target_kind ${sql.join(cases, sql` `)}
      when 'Project' then actor.admin or t.project_id in (${memberProjects(admittingRole.project)})
      when 'Namespace' then actor.admin or t.namespace_id in (${memberGroups(admittingRole.group)})
      else false end
    and (said.internal is not true or ${readsInternalNotesOf(readable('Issue'))}))`
})()
