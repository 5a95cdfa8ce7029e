import { group, project, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'

/** One of the two places that files are uploaded to, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: 'project' | 'group'
  readonly on: Kind
  readonly path: string
  /** As in `List the uploads of a project`. */
  readonly called: string
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly keeping: AbilityOf<Kind>
  readonly removing: AbilityOf<Kind>
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/uploads',
  called: 'a project',
  reading: 'read_project',
  writing: 'create_upload',
  keeping: 'admin_upload',
  removing: 'destroy_upload',
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id/uploads',
  called: 'a group',
  reading: 'read_group',
  writing: 'create_upload',
  keeping: 'admin_upload',
  removing: 'destroy_upload',
}

export function subjectOf(call: object): ProjectSubject | GroupSubject {
  const { project: inProject, group: inGroup } = call as { project?: ProjectSubject; group?: GroupSubject }
  return inProject ?? inGroup!
}
