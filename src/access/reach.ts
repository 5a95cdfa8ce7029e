import type { RawBuilder } from 'kysely'
import { Role } from './levels.ts'
import { memberGroups, memberProjects } from './visible.ts'

type Level = 'developer' | 'maintainer' | 'owner'

/** Ids of the groups in which `actor` has this role or a higher one, in any way. Fits an `in (...)`. */
export function groupsWithRole(level: Level): RawBuilder<unknown> {
  return memberGroups(Role[level])
}

/** The same for projects, those in groups included. */
export function projectsWithRole(level: Level): RawBuilder<unknown> {
  return memberProjects(Role[level])
}
