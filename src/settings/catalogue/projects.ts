import { bytes, choice, choices, flag, int, intOrNull, textOrNull } from '../kinds.ts'
import { branchProtection } from '../objects.ts'

/** What new groups, projects and snippets begin with, and how they end. */
export const projectSettings = {
  default_group_visibility: choice(
    ['private', 'internal', 'public'],
    'private',
    'Visibility of a new group whose creator names none. A group created without `visibility` has this one, lowered to its parent.',
  ),
  default_project_visibility: choice(
    ['private', 'internal', 'public'],
    'private',
    'Visibility of a new project whose creator names none. A project created without `visibility` has this one, lowered to its namespace.',
  ),
  default_snippet_visibility: choice(
    ['private', 'internal', 'public'],
    'private',
    'Visibility of a new snippet whose creator names none.',
  ),
  restricted_visibility_levels: choices(
    ['private', 'internal', 'public'],
    [],
    'Levels that only administrators may give to groups and projects. Anybody else is refused; what has the level already keeps it.',
    { unknown: 'private', commas: true },
  ),
  default_branch_name: textOrNull(
    null,
    'First branch of new repositories, unless the group or the request names one; null is `main`. HEAD of a new repository points to it.',
    { longest: 255 },
  ),
  default_branch_protection: choice(
    [0, 1, 2, 3, 4],
    2,
    "Old integer form (0-4) of the protection put on a new project's default branch; setting it rewrites default_branch_protection_defaults.",
  ),
  default_branch_protection_defaults: branchProtection(
    {
      allowed_to_push: [{ access_level: 40 }],
      allow_force_push: false,
      allowed_to_merge: [{ access_level: 40 }],
      developer_can_initial_push: false,
    },
    'Protection that the default branch of a new project gets with its first push. The rule made at the first push has the least of these levels, that of administrators where there is none; there is no rule where Developers may do everything.',
  ),
  group_owners_can_manage_default_branch_protection: flag(
    true,
    "When false, group owners cannot change their group's default branch protection; only administrators can.",
    { strict: true, plan: 'premium' },
  ),
  default_project_creation: choice(
    [0, 1, 2, 3, 4],
    2,
    'Least role that may create projects in a group that has no own value: 0 no one, 1 Maintainers, 2 Developers, 3 Administrators, 4 Owners.',
  ),
  default_projects_limit: intOrNull(
    100_000,
    'Personal projects that a user created from now on may own. A further personal project is refused.',
    { strict: true },
  ),
  can_create_group: flag(
    true,
    'Whether users created from now on may create top-level groups. A user without it gets 403.',
  ),
  allow_project_creation_for_guest_and_below: flag(
    true,
    'When false, users whose highest role is Guest or lower cannot create groups or personal projects.',
  ),
  default_project_deletion_protection: flag(
    false,
    'When true, only administrators may delete projects (403 for owners).',
    { strict: true, plan: 'premium' },
  ),
  deletion_adjourned_period: int(
    7,
    'Days a project or group marked for deletion stays restorable before it is really removed.',
    { min: 1, max: 90, plan: 'premium' },
  ),
  file_template_project_id: intOrNull(
    null,
    'Project whose folders `Dockerfile`, `gitignore`, `gitlab-ci` and `LICENSE` hold file templates for everybody. They come first in the lists of templates.',
    { strict: true, plan: 'premium' },
  ),
  time_tracking_limit_to_hours: flag(
    false,
    'Human-readable time estimates and time spent are shown in hours only (no weeks or days).',
  ),
  security_policy_global_group_approvers_enabled: flag(
    true,
    "Approver groups of security policies are looked up in the whole instance instead of the project's own tree.",
    { strict: true, plan: 'premium' },
  ),
  security_approval_policies_limit: int(
    5,
    'Only this many enabled approval policies per policy project take effect.',
    { min: 5, max: 20, plan: 'premium' },
  ),
  secret_push_protection_available: flag(
    false,
    'Lets projects turn secret push protection on (it does not turn it on).',
    { plan: 'ultimate' },
  ),
  snippet_size_limit: bytes(
    52_428_800,
    'Largest snippet content, in bytes; a larger one is a validation error.',
    {
      min: 1,
    },
  ),
  delete_inactive_projects: flag(
    false,
    'A periodic job warns about and then schedules deletion of projects without activity.',
  ),
  inactive_projects_delete_after_months: int(
    2,
    'Months without activity after which a warned project is marked for deletion.',
    { min: 1 },
  ),
  inactive_projects_min_size_mb: int(0, 'Only projects larger than this count as inactive.', { min: 0 }),
  inactive_projects_send_warning_email_after_months: int(
    1,
    'Months without activity after which maintainers and owners are warned.',
    { min: 1 },
  ),
}
