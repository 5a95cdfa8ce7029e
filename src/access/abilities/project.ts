import { Role } from '../levels.ts'
import type { ProjectSubject } from '../subjects.ts'
import { administrator, everybody, exactly, member, signedIn, type Rules } from './condition.ts'
import {
  anyJob,
  archived,
  codeClosed,
  environmentReader,
  feature,
  foreignJob,
  imageReaders,
  issueWriter,
  jobThatMayNotPush,
  leftToNobody,
  levelOf,
  mergeRequestReader,
  off,
  otherJob,
  ownJob,
  packageReaders,
  publicJobs,
  unconfirmed,
} from './project-conditions.ts'

const planner = [member(Role.planner)]
const developer = [member(Role.developer)]
const wikiWriters = [exactly(Role.planner), member(Role.developer)]
const wikiKeepers = [exactly(Role.planner), member(Role.maintainer)]
const maintainer = [member(Role.maintainer)]
const owner = [member(Role.owner)]
const forkers = [feature('forking', Role.reporter)]
const codeReaders = [feature('repository', Role.planner)]
const pipelineReaders = [publicJobs, member(Role.reporter), ownJob]

export type ProjectAbility =
  | 'read_project'
  | 'read_project_statistics'
  | 'reach_project'
  | 'admit_job'
  | 'read_project_member'
  | 'read_code'
  | 'push_code'
  | 'push_to_branch'
  | 'read_commit_status'
  | 'create_commit_status'
  | 'download_code'
  | 'upload_code'
  | 'force_lfs_unlock'
  | 'read_pipeline'
  | 'read_job'
  | 'read_job_debug_trace'
  | 'read_developer_artifacts'
  | 'read_maintainer_artifacts'
  | 'create_pipeline'
  | 'run_job'
  | 'create_build_terminal'
  | 'update_pipeline'
  | 'start_job'
  | 'cancel_pipeline'
  | 'set_pipeline_variables'
  | 'read_pipeline_variables'
  | 'destroy_pipeline'
  | 'erase_any_job'
  | 'admin_job'
  | 'read_cicd_variables'
  | 'admin_cicd_variables'
  | 'read_pipeline_schedule'
  | 'create_pipeline_schedule'
  | 'admin_pipeline_schedule'
  | 'read_trigger'
  | 'admin_trigger'
  | 'read_runner'
  | 'admin_runner'
  | 'read_wiki'
  | 'create_wiki'
  | 'admin_wiki'
  | 'read_issue'
  | 'create_issue'
  | 'update_issue'
  | 'admin_issue'
  | 'destroy_issue'
  | 'import_issue'
  | 'read_label'
  | 'admin_label'
  | 'read_milestone'
  | 'admin_milestone'
  | 'destroy_milestone'
  | 'read_environment'
  | 'update_environment'
  | 'destroy_deployment'
  | 'read_feature_flag'
  | 'admin_feature_flag'
  | 'admin_feature_flags_client'
  | 'read_protected_environment'
  | 'admin_protected_environment'
  | 'approve_deployment'
  | 'read_freeze_period'
  | 'admin_freeze_period'
  | 'read_release'
  | 'update_release'
  | 'read_resource_group'
  | 'update_resource_group'
  | 'read_protected_branch'
  | 'admin_protected_branch'
  | 'read_package'
  | 'create_package'
  | 'destroy_package'
  | 'read_container_image'
  | 'create_container_image'
  | 'destroy_container_tag'
  | 'admin_container_image'
  | 'read_container_rule'
  | 'admin_container_rule'
  | 'admin_protected_tag'
  | 'change_protected_tag'
  | 'read_merge_request'
  | 'create_merge_request_from'
  | 'create_merge_request_in'
  | 'update_merge_request'
  | 'touch_own_merge_request'
  | 'approve_as_named'
  | 'merge_merge_request'
  | 'destroy_merge_request'
  | 'move_repository'
  | 'admin_deploy_key'
  | 'change_deploy_key'
  | 'read_mirror'
  | 'admin_mirror'
  | 'read_snippet'
  | 'create_snippet'
  | 'update_snippet'
  | 'admin_snippet'
  | 'read_user_agent'
  | 'create_upload'
  | 'admin_upload'
  | 'destroy_upload'
  | 'create_note'
  | 'create_internal_note'
  | 'admin_note'
  | 'resolve_note'
  | 'write_locked_discussion'
  | 'set_note_time'
  | 'admin_project'
  | 'fork_project'
  | 'admin_fork'
  | 'star_project'
  | 'transfer_project'
  | 'change_visibility'
  | 'archive_project'
  | 'remove_project'
  | 'admin_project_member'
  | 'explain_access'
  | 'admin_custom_attribute'
  | 'approve_merge_request'
  | 'admin_merge_request_settings'
  | 'admin_push_rule'
  | 'read_security_settings'
  | 'admin_security_settings'
  | 'admin_web_hook'
  | 'admin_integrations'
  | 'admin_deploy_token'
  | 'admin_access_token'
  | 'read_infra_state'
  | 'admin_infra_state'
  | 'read_dependency'
  | 'read_vulnerability'
  | 'admin_vulnerability'
  | 'admin_security_testing'
  | 'admin_security_policy_link'
  | 'admin_compliance_framework'
  | 'read_site'
  | 'deploy_site'
  | 'admin_site'
  | 'change_site'
  | 'manage_site'
  | 'leave'

/** Sources: permission matrix of the supporting resources (7.1) and the completions of the areas. */
export const projectAbilities: Rules<ProjectSubject, ProjectAbility> = {
  read_project: { allow: [everybody] },
  read_project_statistics: { allow: [member(Role.reporter)] },
  /** Where a token leads besides what its user sees. */
  reach_project: { allow: [everybody], never: [foreignJob] },
  /** What a job does here by its token alone, whatever its user may. */
  admit_job: { allow: [everybody], never: [otherJob] },
  read_project_member: { allow: [signedIn] },
  read_code: { allow: codeReaders, never: [off('repository')] },
  push_code: { allow: developer, never: [archived, off('repository')] },
  /** To one branch at least: Developers, and whom a merge request from a fork lets in. Which branch the area looks at. */
  push_to_branch: { allow: codeReaders, never: [archived, off('repository')] },
  /** Over git. */
  download_code: { allow: codeReaders, never: [off('repository'), foreignJob] },
  upload_code: { allow: developer, never: [archived, off('repository'), jobThatMayNotPush] },
  /** Take away what somebody else has locked. */
  force_lfs_unlock: { allow: maintainer, never: [archived, off('repository'), anyJob] },
  read_pipeline: { allow: pipelineReaders, never: [off('builds'), foreignJob] },
  /** Of pipelines, and on commits: who reads one of the two only is not shown what joins them. */
  read_commit_status: { allow: pipelineReaders, never: [off('builds'), off('repository'), codeClosed] },
  create_commit_status: { allow: developer, never: [archived, off('builds'), off('repository')] },
  read_job: { allow: pipelineReaders, never: [off('builds'), foreignJob] },
  read_developer_artifacts: { allow: developer, never: [off('builds')] },
  read_maintainer_artifacts: { allow: maintainer, never: [off('builds')] },
  read_job_debug_trace: { allow: developer, never: [off('builds')] },
  create_pipeline: { allow: developer, never: [archived, off('builds'), unconfirmed] },
  /** Whether jobs that are there may go to a runner. */
  run_job: { allow: [everybody], never: [off('builds')] },
  /** Of jobs that the caller started, on refs where he may run them: the area looks at that. */
  create_build_terminal: { allow: developer, never: [archived, off('builds'), anyJob] },
  update_pipeline: { allow: [...developer, ownJob], never: [archived, off('builds'), otherJob, unconfirmed] },
  /** One that deploys to a protected environment, whose rule may name Reporters; others need more: the area looks at that. */
  start_job: {
    allow: [member(Role.reporter), ownJob],
    never: [archived, off('builds'), otherJob, unconfirmed],
  },
  cancel_pipeline: {
    allow: [levelOf('ci_restrict_pipeline_cancellation_role'), ownJob],
    never: [
      archived,
      off('builds'),
      unconfirmed,
      leftToNobody('ci_restrict_pipeline_cancellation_role', 'no_one'),
    ],
  },
  set_pipeline_variables: {
    allow: [levelOf('ci_pipeline_variables_minimum_override_role')],
    never: [archived, leftToNobody('ci_pipeline_variables_minimum_override_role', 'no_one_allowed')],
  },
  read_pipeline_variables: { allow: maintainer, never: [off('builds')] },
  destroy_pipeline: { allow: owner, never: [archived, off('builds')] },
  erase_any_job: { allow: maintainer, never: [archived, off('builds')] },
  admin_job: { allow: maintainer, never: [archived, off('builds')] },
  read_cicd_variables: { allow: maintainer, never: [off('builds')] },
  admin_cicd_variables: { allow: maintainer, never: [archived, off('builds')] },
  read_pipeline_schedule: { allow: [publicJobs, member(Role.reporter)], never: [off('builds')] },
  /** What is there is changed by its owner alone: the area looks at that. */
  create_pipeline_schedule: { allow: developer, never: [archived, off('builds'), unconfirmed] },
  admin_pipeline_schedule: { allow: maintainer, never: [archived, off('builds')] },
  read_trigger: { allow: maintainer, never: [off('builds')] },
  admin_trigger: { allow: maintainer, never: [archived, off('builds')] },
  read_runner: { allow: maintainer, never: [off('builds')] },
  admin_runner: { allow: maintainer, never: [archived, off('builds')] },
  read_wiki: { allow: [feature('wiki')], never: [off('wiki'), foreignJob] },
  create_wiki: { allow: wikiWriters, never: [archived, off('wiki'), anyJob] },
  admin_wiki: { allow: wikiKeepers, never: [archived, off('wiki'), anyJob] },
  /** With issues switched off lists are empty, which is theirs to say; so are issues that are confidential. */
  read_issue: { allow: [everybody], never: [foreignJob] },
  create_issue: { allow: [issueWriter], never: [archived, off('issues')] },
  /** Who wrote an issue or is assigned to it changes it; others need to be able to change any. The area looks at that. */
  update_issue: { allow: [issueWriter], never: [archived, off('issues')] },
  admin_issue: { allow: planner, never: [archived, off('issues')] },
  destroy_issue: { allow: [exactly(Role.planner), member(Role.owner)], never: [archived, off('issues')] },
  /** Says when an issue was made and which number it has. */
  import_issue: { allow: owner, never: [archived, off('issues')] },
  /** Of issues and merge requests alike: where both are off there is nothing to label. */
  read_label: { allow: [everybody] },
  admin_label: { allow: planner, never: [archived] },
  read_milestone: { allow: [everybody] },
  admin_milestone: { allow: planner, never: [archived] },
  destroy_milestone: { allow: [member(Role.reporter)], never: [archived] },
  read_environment: { allow: [environmentReader], never: [off('environments'), foreignJob] },
  update_environment: { allow: developer, never: [archived, off('environments'), otherJob] },
  destroy_deployment: { allow: maintainer, never: [archived, off('environments'), otherJob] },
  read_feature_flag: { allow: developer, never: [off('feature_flags')] },
  admin_feature_flag: { allow: developer, never: [archived, off('feature_flags')] },
  /** The token of the programs that ask. */
  admin_feature_flags_client: { allow: maintainer, never: [archived, off('feature_flags')] },
  read_protected_environment: { allow: maintainer, never: [off('environments')] },
  admin_protected_environment: { allow: maintainer, never: [archived, off('environments')] },
  /** Whom a rule of the environment names. */
  approve_deployment: { allow: [member(Role.reporter)], never: [archived, off('environments')] },
  read_freeze_period: { allow: [member(Role.reporter)], never: [off('environments')] },
  admin_freeze_period: { allow: maintainer, never: [archived, off('environments')] },
  read_release: { allow: [feature('releases')], never: [off('releases'), foreignJob] },
  update_release: { allow: developer, never: [archived, off('releases'), otherJob] },
  read_resource_group: { allow: developer, never: [off('builds')] },
  update_resource_group: { allow: developer, never: [archived, off('builds')] },
  read_protected_branch: { allow: codeReaders, never: [off('repository')] },
  admin_protected_branch: { allow: maintainer, never: [archived, off('repository')] },
  read_package: { allow: [packageReaders], never: [off('package_registry'), foreignJob] },
  create_package: { allow: developer, never: [archived, off('package_registry'), otherJob] },
  destroy_package: { allow: maintainer, never: [archived, off('package_registry'), otherJob] },
  /** Where the registry is switched off its endpoints answer 404, which is theirs to say. */
  read_container_image: { allow: [imageReaders], never: [foreignJob] },
  create_container_image: { allow: developer, never: [archived, otherJob] },
  destroy_container_tag: { allow: developer, never: [archived, otherJob] },
  admin_container_image: { allow: maintainer, never: [archived, otherJob] },
  read_container_rule: { allow: maintainer, never: [off('container_registry')] },
  admin_container_rule: { allow: maintainer, never: [archived, off('container_registry')] },
  admin_protected_tag: { allow: maintainer, never: [off('repository')] },
  change_protected_tag: { allow: maintainer, never: [archived, off('repository')] },
  read_merge_request: {
    allow: [mergeRequestReader],
    never: [off('merge_requests'), off('repository'), foreignJob],
  },
  /** Whose branch it brings: a push by another name. */
  create_merge_request_from: { allow: developer, never: [archived, off('repository'), anyJob] },
  /** From a fork everybody may ask who sees requests and code. */
  create_merge_request_in: {
    allow: [mergeRequestReader],
    never: [archived, off('merge_requests'), off('repository'), codeClosed, anyJob],
  },
  /** Besides its author and those it is assigned to: the area looks at that. */
  update_merge_request: {
    allow: developer,
    never: [archived, off('merge_requests'), off('repository'), anyJob],
  },
  touch_own_merge_request: {
    allow: [signedIn],
    never: [archived, off('merge_requests'), off('repository'), anyJob],
  },
  /** Whom an approval rule names. */
  approve_as_named: {
    allow: [member(Role.reporter)],
    never: [archived, off('merge_requests'), off('repository'), anyJob],
  },
  /** Into branches that no rule protects; of the others the rule decides. */
  merge_merge_request: {
    allow: developer,
    never: [archived, off('merge_requests'), off('repository'), anyJob],
  },
  destroy_merge_request: { allow: owner, never: [off('merge_requests'), anyJob] },
  /** For administrators alone. */
  move_repository: { allow: [] },
  admin_deploy_key: { allow: maintainer },
  change_deploy_key: { allow: maintainer, never: [archived] },
  read_mirror: { allow: maintainer },
  /** Whether mirrors are for administrators alone is a setting of the instance: the area looks at that. */
  admin_mirror: { allow: maintainer, never: [archived, off('repository')] },
  read_snippet: { allow: [feature('snippets')], never: [off('snippets'), foreignJob] },
  create_snippet: { allow: [member(Role.reporter)], never: [archived, off('snippets'), anyJob] },
  /** Of those that the caller wrote. */
  update_snippet: { allow: [feature('snippets')], never: [archived, off('snippets'), anyJob] },
  admin_snippet: { allow: maintainer, never: [archived, off('snippets'), anyJob] },
  read_user_agent: { allow: [administrator] },
  create_upload: { allow: [signedIn], never: [archived, anyJob] },
  admin_upload: { allow: maintainer },
  destroy_upload: { allow: maintainer, never: [archived, anyJob] },
  /** On what the caller may read, which the kind of noteable says; his own notes he may change and delete, too. */
  create_note: { allow: [signedIn], never: [archived, anyJob] },
  create_internal_note: { allow: [member(Role.planner)], never: [archived, anyJob] },
  admin_note: { allow: maintainer, never: [archived, anyJob] },
  resolve_note: { allow: developer, never: [archived, anyJob] },
  write_locked_discussion: { allow: [member(Role.guest)] },
  /** Say when a note was written. */
  set_note_time: { allow: owner, never: [anyJob] },
  admin_project: { allow: maintainer },
  /** What is closed to the caller answers as if it were not there, which is for the endpoint to say. */
  fork_project: { allow: forkers, never: [off('forking'), off('repository'), codeClosed, anyJob] },
  admin_fork: { allow: owner, never: [archived] },
  star_project: { allow: [signedIn] },
  transfer_project: { allow: owner, never: [archived] },
  change_visibility: { allow: owner, never: [archived] },
  archive_project: { allow: owner },
  remove_project: { allow: owner },
  admin_project_member: { allow: maintainer, never: [archived] },
  /** For administrators, who may whatever `never` does not forbid. */
  admin_custom_attribute: { allow: [] },
  explain_access: { allow: maintainer },
  approve_merge_request: { allow: developer, never: [archived, off('merge_requests')] },
  admin_merge_request_settings: { allow: maintainer, never: [archived] },
  admin_push_rule: { allow: maintainer, never: [archived] },
  read_security_settings: { allow: developer },
  admin_security_settings: { allow: maintainer, never: [archived] },
  admin_web_hook: { allow: maintainer },
  admin_integrations: { allow: maintainer },
  admin_deploy_token: { allow: maintainer },
  admin_access_token: { allow: maintainer },
  read_infra_state: { allow: developer, never: [off('infrastructure'), otherJob] },
  admin_infra_state: { allow: maintainer, never: [archived, off('infrastructure'), otherJob] },
  read_dependency: { allow: developer },
  read_vulnerability: { allow: developer },
  admin_vulnerability: { allow: maintainer, never: [archived] },
  admin_security_testing: { allow: maintainer, never: [archived] },
  admin_security_policy_link: { allow: owner, never: [archived] },
  admin_compliance_framework: { allow: owner, never: [archived] },
  /** To look at the site; one that is open to all needs no ability, see `readsSite`. */
  read_site: { allow: [feature('pages')], never: [off('pages')] },
  /** Whose jobs publish the site. */
  deploy_site: { allow: developer, never: [archived, off('pages')] },
  /** Where sites are switched off its endpoints answer 404, which is theirs to say. */
  admin_site: { allow: maintainer },
  change_site: { allow: maintainer, never: [archived] },
  /** For administrators alone. */
  manage_site: { allow: [] },
  leave: { allow: [signedIn] },
}
