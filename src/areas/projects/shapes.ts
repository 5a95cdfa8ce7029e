import { visibilityNames } from '../../access/index.ts'
import {
  Either,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { CustomAttribute } from '../custom-attributes/index.ts'
import { SharedWith } from '../shares/index.ts'
import { BasicUser } from '../users/index.ts'
import { levelFields } from './feature-levels.ts'
import { BriefNamespace, projectIdentity } from '../namespaces/index.ts'
import { settingFields } from './settings.ts'
import { Statistics } from './statistics.ts'

const License = Fields({
  key: Text(),
  name: Text(),
  nickname: Nullable(Text()),
  html_url: Nullable(Text()),
  source_url: Nullable(Text()),
})

const basicFields = {
  ...projectIdentity,
  default_branch: Optional(Nullable(Text({ description: 'Only where the code is readable' }))),
  tag_list: ListOf(Text()),
  topics: ListOf(Text()),
  ssh_url_to_repo: Text(),
  http_url_to_repo: Text(),
  web_url: Text(),
  readme_url: Nullable(Text()),
  license_url: Optional(Nullable(Text({ description: 'Only on request' }))),
  license: Optional(Nullable(License)),
  forks_count: Int(),
  avatar_url: Nullable(Text()),
  star_count: Int(),
  last_activity_at: Timestamp(),
  visibility: OneOf(visibilityNames, {}),
  namespace: BriefNamespace,
  repository_storage: Optional(Text({ description: 'For administrators' })),
}

/** The form for visitors, and for lists that ask for it. */
export const BasicProject = Fields(basicFields)

const fullFields = {
  ...basicFields,
  forked_from_project: Nullable(BasicProject),
  container_registry_image_prefix: Nullable(Text()),
  _links: Fields({
    self: Text(),
    issues: Optional(Text()),
    merge_requests: Optional(Text()),
    repo_branches: Text(),
    labels: Text(),
    events: Text(),
    members: Text(),
    cluster_agents: Text(),
  }),
  packages_enabled: Flag(),
  empty_repo: Flag(),
  archived: Flag(),
  owner: Optional(BasicUser),
  marked_for_deletion_at: Nullable(Text()),
  marked_for_deletion_on: Nullable(Text()),
  repository_object_format: Text(),
  issues_enabled: Flag(),
  merge_requests_enabled: Flag(),
  wiki_enabled: Flag(),
  jobs_enabled: Flag(),
  snippets_enabled: Flag(),
  container_registry_enabled: Flag(),
  service_desk_address: Nullable(Text()),
  can_create_merge_request_in: Flag(),
  ...levelFields,
  emails_disabled: Flag(),
  creator_id: Nullable(Id()),
  import_url: Nullable(Text()),
  import_type: Nullable(Text()),
  import_status: Text(),
  import_error: Nullable(Text()),
  open_issues_count: Optional(Int({ description: 'Where issues are open to the caller' })),
  description_html: Text(),
  updated_at: Timestamp(),
  statistics: Optional(Statistics),
  custom_attributes: Optional(ListOf(CustomAttribute)),
  shared_with_groups: ListOf(SharedWith),
  security_and_compliance_enabled: Optional(Flag()),
  requirements_enabled: Optional(Flag()),
  compliance_frameworks: Optional(ListOf(Text(), { description: 'Empty: none are kept here' })),
  mirror: Optional(Flag({ description: 'Whether it follows a repository elsewhere' })),
  mirror_user_id: Optional(Nullable(Id({ description: 'Of a mirror' }))),
  mirror_trigger_builds: Optional(Flag()),
  only_mirror_protected_branches: Optional(Flag()),
  mirror_overwrites_diverged_branches: Optional(Flag()),
  ...settingFields('everyone'),
  mr_default_target_self: Nullable(Flag({ description: 'Of a fork' })),
  restrict_user_defined_variables: Optional(Flag()),
  runners_token: Optional(Nullable(Text())),
  runner_token_expiration_interval: Optional(Nullable(Int())),
  ...settingFields('maintainers'),
}

/** The whole of a project; some fields are for Maintainers. */
export const Project = Fields(fullFields)

const Access = Nullable(Fields({ access_level: Int(), notification_level: Int() }))

/** The whole of a project, and what the caller is in it. */
export const ProjectWithAccess = Fields({
  ...fullFields,
  permissions: Fields({ project_access: Access, group_access: Access }),
})

/** The forms a list may answer with. */
export const AnyProject = Either(ProjectWithAccess, Project, BasicProject)
