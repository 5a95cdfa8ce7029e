import { group, instance, project } from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'
import type { PlaceKind } from './rules.ts'

/** Whose variables are meant: the id of a project or group; of the instance null. */
export interface Owner {
  readonly kind: PlaceKind
  readonly id: number | null
}

/** One of the three places that keep variables, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: PlaceKind
  readonly on: Kind
  readonly path: string
  /** As in `List the CI/CD variables of a project`. */
  readonly called: string
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/variables',
  called: 'a project',
  reading: 'read_cicd_variables',
  writing: 'admin_cicd_variables',
  owner: (call) => ({ kind: 'project', id: call.project.id }),
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id/variables',
  called: 'a group',
  reading: 'read_cicd_variables',
  writing: 'admin_cicd_variables',
  owner: (call) => ({ kind: 'group', id: call.group.id }),
}

export const instancePlace: Place<typeof instance> = {
  kind: 'instance',
  on: instance,
  path: '/admin/ci/variables',
  called: 'the instance',
  reading: 'admin_instance',
  writing: 'admin_instance',
  owner: () => ({ kind: 'instance', id: null }),
}
