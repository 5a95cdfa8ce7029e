import { Fields, Flag, Int, ListOf, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

const AccessLevelEntry = Fields({ access_level: OneOf(0, 30, 40, 60) })

/** What new groups and projects begin with. */
export const projectSettings = {
  default_project_visibility: setting(OneOf('private', 'internal', 'public'), 'private', {
    about: 'Visibility of a new project whose creator names none.',
    effect: 'A project created without `visibility` has this one, lowered to its namespace.',
  }),
  default_group_visibility: setting(OneOf('private', 'internal', 'public'), 'private', {
    about: 'Visibility of a new group whose creator names none.',
    effect: 'A group created without `visibility` has this one, lowered to its parent.',
  }),
  restricted_visibility_levels: setting(ListOf(OneOf('private', 'internal', 'public')), [], {
    about: 'Levels that only administrators may give to groups and projects.',
    effect: 'Anybody else is refused; what has the level already keeps it.',
  }),
  default_branch_name: setting(Nullable(Text({ maxLength: 255 })), null, {
    about: 'First branch of new repositories, unless the group or the request names one; null is `main`.',
    effect: 'HEAD of a new repository points to it.',
  }),
  default_branch_protection_defaults: setting(
    Fields({
      allowed_to_push: Optional(ListOf(AccessLevelEntry)),
      allowed_to_merge: Optional(ListOf(AccessLevelEntry)),
      allow_force_push: Optional(Flag()),
      code_owner_approval_required: Optional(Flag()),
      developer_can_initial_push: Optional(Flag()),
    }),
    {
      allowed_to_push: [{ access_level: 40 }],
      allow_force_push: false,
      allowed_to_merge: [{ access_level: 40 }],
      developer_can_initial_push: false,
    },
    {
      about: 'Protection that the default branch of a new project gets with its first push.',
      effect: 'The rule made at the first push has these levels; without entries there is none.',
    },
  ),
  default_projects_limit: setting(Nullable(Int()), 100_000, {
    about: 'Personal projects that a user created from now on may own.',
    effect: 'A further personal project is refused.',
  }),
  can_create_group: setting(Flag(), true, {
    about: 'Whether users created from now on may create top-level groups.',
    effect: 'A user without it gets 403.',
  }),
}
