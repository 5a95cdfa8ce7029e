import { group, project } from '../../access/index.ts'
import type { SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'

export type PlaceKind = 'project' | 'group'

/** Whose labels or milestones are meant. */
export interface Owner {
  readonly kind: PlaceKind
  readonly id: number
  /** Ids of the groups above, and of a group itself, from the top one down. */
  readonly line: readonly number[]
}

/** What has plans of its own, and how endpoints are declared on it. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: PlaceKind
  readonly on: Kind
  readonly path: string
  /** As in `List the labels of a project`. */
  readonly called: string
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const inProject: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id',
  called: 'a project',
  owner: (call) => ({ kind: 'project', id: call.project.id, line: call.project.line }),
}

export const inGroup: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id',
  called: 'a group',
  owner: (call) => ({ kind: 'group', id: call.group.id, line: call.group.line }),
}
