import { sql, type RawBuilder } from 'kysely'
import { group, instance, project } from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'
import type { PlaceKind } from './triggers.ts'

/** Whose webhooks are meant: the id of a project or group; of the instance null. */
export interface Owner {
  readonly kind: PlaceKind
  readonly id: number | null
}

/** One of the three places that have webhooks, and how its endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: PlaceKind
  readonly on: Kind
  readonly path: string
  /** As in `List the webhooks of a project`. */
  readonly called: string
  readonly may: AbilityOf<Kind>
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/hooks',
  called: 'a project',
  may: 'admin_web_hook',
  owner: (call) => ({ kind: 'project', id: call.project.id }),
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id/hooks',
  called: 'a group',
  may: 'admin_web_hook',
  owner: (call) => ({ kind: 'group', id: call.group.id }),
}

export const instancePlace: Place<typeof instance> = {
  kind: 'instance',
  on: instance,
  path: '/hooks',
  called: 'the instance',
  may: 'admin_instance',
  owner: () => ({ kind: 'instance', id: null }),
}

/** The condition on the webhooks `w` of a place, by its id. */
export function within(kind: PlaceKind, id: RawBuilder<unknown> = sql`subject.id`): RawBuilder<unknown> {
  switch (kind) {
    case 'project':
      return sql`w.project_id = ${id}`
    case 'group':
      return sql`w.namespace_id = ${id}`
    case 'instance':
      return sql`w.project_id is null and w.namespace_id is null`
  }
}
