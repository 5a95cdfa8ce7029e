import { Role } from '../levels.ts'
import type { GroupSubject } from '../subjects.ts'
import { everybody, exactly, member, signedIn, type Condition, type Rules } from './condition.ts'

/** A level that the group may set lower or higher: `project_creation_level`, `subgroup_creation_level`. */
function creation(
  setting: string,
  levels: Readonly<Record<string, number>>,
  fallback: string,
): Condition<GroupSubject> {
  return {
    label: `${setting} (${fallback} unless changed)`,
    holds(_, subject) {
      const chosen = subject.settings[setting]
      const level = levels[typeof chosen === 'string' ? chosen : fallback]
      return level !== undefined && subject.role >= level
    },
  }
}

const planner = [member(Role.planner)]
const owner = [member(Role.owner)]

const archived: Condition<GroupSubject> = {
  label: 'group archived or marked for deletion',
  holds: (_, subject) => subject.archived || subject.deleting,
}

const wikiLevel = ({ settings }: GroupSubject): unknown => settings['wiki_access_level'] ?? 'enabled'

const wikiOpen: Condition<GroupSubject> = {
  label: 'wiki open to the caller',
  holds: (_, subject) => wikiLevel(subject) === 'enabled' || subject.role >= Role.guest,
}

const wikiOff: Condition<GroupSubject> = {
  label: 'wiki disabled',
  holds: (_, subject) => wikiLevel(subject) === 'disabled',
}

/** A job acts for a project. */
const anyJob: Condition<GroupSubject> = { label: 'a job', holds: (actor) => actor.job !== null }

export type GroupAbility =
  | 'read_group'
  | 'read_group_member'
  | 'create_projects'
  | 'import_projects'
  | 'create_subgroup'
  | 'admin_group'
  | 'remove_group'
  | 'archive_group'
  | 'transfer_group'
  | 'admin_ldap_group_links'
  | 'override_group_member'
  | 'admin_group_member'
  | 'read_group_runner'
  | 'admin_group_runner'
  | 'read_cicd_variables'
  | 'admin_cicd_variables'
  | 'admin_protected_branch'
  | 'admin_protected_environment'
  | 'read_package'
  | 'read_container_image'
  | 'read_wiki'
  | 'create_wiki'
  | 'admin_wiki'
  | 'read_epic'
  | 'admin_epic'
  | 'destroy_epic'
  | 'read_label'
  | 'admin_label'
  | 'read_milestone'
  | 'admin_milestone'
  | 'destroy_milestone'
  | 'explain_access'
  | 'admin_custom_attribute'
  | 'admin_member_role'
  | 'admin_merge_request_settings'
  | 'admin_push_rule'
  | 'admin_web_hook'
  | 'admin_integrations'
  | 'link_tracker'
  | 'read_deploy_token'
  | 'admin_deploy_token'
  | 'admin_access_token'
  | 'admin_service_account'
  | 'read_dependency'
  | 'read_vulnerability'
  | 'admin_vulnerability'
  | 'admin_security_testing'
  | 'admin_security_policy_link'
  | 'admin_compliance_framework'
  | 'create_upload'
  | 'admin_upload'
  | 'destroy_upload'
  | 'create_note'
  | 'create_internal_note'
  | 'admin_note'
  | 'resolve_note'
  | 'write_locked_discussion'
  | 'set_note_time'
  | 'leave'

export const groupAbilities: Rules<GroupSubject, GroupAbility> = {
  read_group: { allow: [everybody] },
  read_group_member: { allow: [signedIn] },
  create_projects: {
    allow: [
      creation(
        'project_creation_level',
        { owner: Role.owner, maintainer: Role.maintainer, developer: Role.developer },
        'developer',
      ),
    ],
    never: [
      {
        label: 'nobody may create projects here',
        holds: (_, subject) => subject.settings['project_creation_level'] === 'noone',
      },
      archived,
    ],
  },
  /** Bring them here from other hosts, with what people there may say that others have written. */
  import_projects: { allow: [member(Role.maintainer)], never: [archived] },
  create_subgroup: {
    allow: [
      creation('subgroup_creation_level', { owner: Role.owner, maintainer: Role.maintainer }, 'maintainer'),
    ],
    never: [archived],
  },
  admin_group: { allow: owner },
  remove_group: { allow: owner },
  archive_group: { allow: owner },
  admin_ldap_group_links: { allow: owner },
  override_group_member: { allow: owner },
  transfer_group: { allow: owner, never: [archived] },
  read_group_runner: { allow: [member(Role.maintainer)] },
  admin_group_runner: { allow: owner },
  admin_group_member: { allow: owner },
  read_cicd_variables: { allow: owner },
  admin_cicd_variables: { allow: owner },
  admin_protected_branch: { allow: owner },
  admin_protected_environment: { allow: owner },
  /** Of the projects in it, whose packages are looked at one by one. */
  read_package: { allow: [everybody] },
  read_container_image: { allow: [member(Role.reporter)] },
  read_wiki: { allow: [wikiOpen], never: [wikiOff, anyJob] },
  create_wiki: { allow: [exactly(Role.planner), member(Role.developer)], never: [wikiOff, anyJob] },
  admin_wiki: { allow: [exactly(Role.planner), member(Role.maintainer)], never: [wikiOff, anyJob] },
  /** Which epics are confidential the area looks at. */
  read_epic: { allow: [everybody] },
  admin_epic: { allow: planner },
  destroy_epic: { allow: [exactly(Role.planner), member(Role.owner)] },
  read_label: { allow: [everybody] },
  admin_label: { allow: planner },
  read_milestone: { allow: [everybody] },
  admin_milestone: { allow: planner },
  destroy_milestone: { allow: [member(Role.reporter)] },
  /** For administrators, who may whatever `never` does not forbid. */
  admin_custom_attribute: { allow: [] },
  explain_access: { allow: owner },
  admin_member_role: { allow: owner },
  admin_merge_request_settings: { allow: owner },
  admin_push_rule: { allow: owner },
  admin_web_hook: { allow: owner },
  admin_integrations: { allow: owner },
  link_tracker: { allow: [member(Role.maintainer)] },
  read_deploy_token: { allow: [member(Role.maintainer)] },
  admin_deploy_token: { allow: owner },
  admin_access_token: { allow: owner },
  admin_service_account: { allow: owner },
  read_dependency: { allow: [member(Role.developer)] },
  read_vulnerability: { allow: [member(Role.developer)] },
  admin_vulnerability: { allow: [member(Role.maintainer)] },
  admin_security_testing: { allow: [member(Role.maintainer)] },
  admin_security_policy_link: { allow: owner },
  admin_compliance_framework: { allow: owner },
  create_upload: { allow: [signedIn], never: [anyJob] },
  admin_upload: { allow: [member(Role.maintainer)] },
  destroy_upload: { allow: [member(Role.maintainer)], never: [anyJob] },
  create_note: { allow: [signedIn], never: [anyJob] },
  create_internal_note: { allow: [member(Role.planner)], never: [anyJob] },
  admin_note: { allow: [member(Role.maintainer)], never: [anyJob] },
  resolve_note: { allow: [member(Role.developer)], never: [anyJob] },
  write_locked_discussion: { allow: [member(Role.guest)] },
  set_note_time: { allow: owner, never: [anyJob] },
  leave: { allow: [signedIn] },
}
