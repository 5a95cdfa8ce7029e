import {
  keptByGroup,
  keptByInstance,
  keptByProject,
  type group,
  type instance,
  type Keeper,
  type project,
} from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'

/** One of the three places that keep variables, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> extends Keeper<Kind> {
  readonly path: string
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
}

export const projectPlace: Place<typeof project> = {
  ...keptByProject,
  path: '/projects/:id/variables',
  reading: 'read_cicd_variables',
  writing: 'admin_cicd_variables',
}

export const groupPlace: Place<typeof group> = {
  ...keptByGroup,
  path: '/groups/:id/variables',
  reading: 'read_cicd_variables',
  writing: 'admin_cicd_variables',
}

export const instancePlace: Place<typeof instance> = {
  ...keptByInstance,
  path: '/admin/ci/variables',
  reading: 'admin_instance',
  writing: 'admin_instance',
}
