import type { SubjectKind, SubjectOf } from '../kernel/endpoint/index.ts'
import { group, instance, project } from './subjects.ts'

export type KeeperKind = 'project' | 'group' | 'instance'

/** Whose things are meant: the id of a project or group; of the instance null. */
export interface Owner {
  readonly kind: KeeperKind
  readonly id: number | null
}

/** One of the three places that keep things of the same kind, and what the declarations of its endpoints begin with. */
export interface Keeper<Kind extends SubjectKind> {
  readonly kind: KeeperKind
  readonly on: Kind
  /** As in `List the webhooks of a project`. */
  readonly called: string
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const keptByProject: Keeper<typeof project> = {
  kind: 'project',
  on: project,
  called: 'a project',
  owner: (call) => ({ kind: 'project', id: call.project.id }),
}

export const keptByGroup: Keeper<typeof group> = {
  kind: 'group',
  on: group,
  called: 'a group',
  owner: (call) => ({ kind: 'group', id: call.group.id }),
}

export const keptByInstance: Keeper<typeof instance> = {
  kind: 'instance',
  on: instance,
  called: 'the instance',
  owner: () => ({ kind: 'instance', id: null }),
}
