import { group, project, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'
import { type Plan, planOf } from '../../kernel/config/index.ts'

/** Whose wiki it is, as storing needs it. */
export interface Owner {
  readonly kind: 'project' | 'group'
  readonly id: number
  readonly fullPath: string
  /** Ids of the groups from the top one down; of a project, those it lies in. */
  readonly line: readonly number[]
}

export function ownerOf(subject: ProjectSubject | GroupSubject): Owner {
  const { kind, id, fullPath, line } = subject
  return { kind, id, fullPath, line }
}

/** One of the two kinds of places that have a wiki, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: Owner['kind']
  readonly on: Kind
  /** `/projects/:id` */
  readonly path: string
  /** As in `List the wiki pages of a project`. */
  readonly called: string
  readonly plan: { readonly plan?: Plan }
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly keeping: AbilityOf<Kind>
  readonly subject: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) =>
    ProjectSubject | GroupSubject
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id',
  called: 'a project',
  plan: {},
  reading: 'read_wiki',
  writing: 'create_wiki',
  keeping: 'admin_wiki',
  subject: (call) => call.project,
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id',
  called: 'a group',
  plan: { plan: planOf.group_wikis },
  reading: 'read_wiki',
  writing: 'create_wiki',
  keeping: 'admin_wiki',
  subject: (call) => call.group,
}
