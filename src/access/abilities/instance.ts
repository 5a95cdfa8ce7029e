import type { InstanceSubject } from '../subjects.ts'
import { administrator, everybody, signedIn, type Rules } from './condition.ts'

export type InstanceAbility =
  | 'use_instance'
  | 'read_instance'
  | 'read_users'
  | 'create_group'
  | 'create_project'
  | 'create_snippet'
  | 'admin_instance'
  | 'admin_users'

export const instanceAbilities: Rules<InstanceSubject, InstanceAbility> = {
  /** What everybody may call: the handler shows only what the caller may see. */
  use_instance: { allow: [everybody] },
  read_instance: { allow: [signedIn] },
  /** The gate asks `hidesUsers` about visitors. */
  read_users: {
    allow: [{ label: 'everybody; visitors while `public` is not restricted', holds: () => true }],
  },
  create_group: {
    allow: [{ label: 'may create groups', holds: (actor) => actor.user?.canCreateGroup === true }],
    never: [{ label: 'external user', holds: (actor) => actor.user?.external === true }],
  },
  create_project: {
    allow: [signedIn],
    never: [{ label: 'external user', holds: (actor) => actor.user?.external === true }],
  },
  create_snippet: {
    allow: [signedIn],
    never: [{ label: 'external user', holds: (actor) => actor.user?.external === true }],
  },
  admin_instance: { allow: [administrator] },
  admin_users: { allow: [administrator] },
}
