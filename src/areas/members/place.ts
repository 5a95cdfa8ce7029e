import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  require,
  type Actor,
  type GroupSubject,
  type Permission,
  type ProjectSubject,
} from '../../access/index.ts'

/** Where memberships are looked after: a group or a project, and the groups whose members it inherits. */
export interface Place {
  readonly kind: 'group' | 'project'
  readonly id: number
  /** The caller's role here. */
  readonly role: number
  /** What his custom roles give here. */
  readonly permissions: readonly Permission[]
  /** Of a group; null at the top. */
  readonly parentId: number | null
  /** Namespaces from the top one down; of a group the group itself is the last. */
  readonly line: readonly number[]
  /** Namespaces whose memberships are inherited here. */
  readonly above: readonly number[]
}

export function placeOf(subject: GroupSubject | ProjectSubject): Place {
  const { kind, id, role, permissions, line } = subject
  return {
    ...{ kind, id, role, permissions, line },
    parentId: kind === 'group' ? subject.parentId : null,
    above: kind === 'group' ? line.slice(0, -1) : line,
  }
}

/** The column of a membership that names its place. */
export function placeColumn(kind: Place['kind'], alias = 'm'): RawBuilder<number> {
  return sql.ref(`${alias}.${kind === 'group' ? 'namespace_id' : 'project_id'}`)
}

/** Refuses callers who do not look after the members of a place. */
export function requireAdministration(actor: Actor, subject: GroupSubject | ProjectSubject): void {
  if (subject.kind === 'group') require(actor, 'admin_group_member', subject)
  else require(actor, 'admin_project_member', subject)
}
