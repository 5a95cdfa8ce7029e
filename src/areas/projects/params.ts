import { visibilityNames } from '../../access/index.ts'
import { Fields, Flag, Id, ListOf, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import { avatarParam } from '../avatars/index.ts'
import { levelParams } from './feature-levels.ts'
import { settingParams } from './settings.ts'

const topics = (description: string, deprecated: boolean) =>
  Optional(ListOf(Text(), { commaSeparated: true, description, deprecated }))

/** What can be said of a project whenever it is written. */
const common = {
  ...avatarParam,
  description: Optional(Nullable(Text({ description: 'At most 2000 characters' }))),
  visibility: Optional(OneOf(visibilityNames, {})),
  default_branch: Optional(Nullable(Text({ description: 'Where HEAD points' }))),
  topics: topics('In this order', false),
  tag_list: topics('Use `topics`', true),
}

const source = {
  initialize_with_readme: Flag({ default: false, description: 'Begin with a commit that has a README' }),
  template_name: Optional(Text()),
  template_project_id: Optional(Id()),
  import_url: Optional(
    Text({
      description: 'Of the repository that it is made from, or follows: with the login, if it needs one',
    }),
  ),
}

/** A repository elsewhere that the project follows, from the plan Premium on. */
const mirror = {
  mirror: Optional(Flag({ description: 'Whether it follows the repository at `import_url`' })),
  mirror_trigger_builds: Optional(Flag({ description: 'Whether pipelines run for what is fetched' })),
  only_mirror_protected_branches: Optional(Flag()),
  mirror_branch_regex: Optional(
    Nullable(Text({ maxLength: 255, description: 'Only branches whose names match (RE2)' })),
  ),
}

export const createParams = Fields({
  name: Optional(Text({ maxLength: 255, description: 'By default the path' })),
  path: Optional(Text({ maxLength: 255, description: 'By default made from the name' })),
  namespace_id: Optional(Id({ description: "By default the caller's own namespace" })),
  ...common,
  ...source,
  ...mirror,
  ...levelParams,
  ...settingParams('create'),
})

export const createRules = {
  atLeastOneOf: [['name', 'path']],
  mutuallyExclusive: [['import_url', 'template_name', 'template_project_id']],
} as const

export const createForUserParams = Fields({
  user_id: Id(),
  name: Text({ maxLength: 255 }),
  path: Optional(Text({ maxLength: 255 })),
  ...common,
  ...source,
  ...levelParams,
  ...settingParams('create'),
})

/** How something that is marked for deletion is deleted at once. */
export const permanentlyParams = {
  permanently_remove: Optional(Flag({ description: 'At once; it must be marked before' })),
  full_path: Optional(Text({ description: 'Its full path, with `permanently_remove`' })),
}

export const updateParams = Fields({
  name: Optional(Text({ maxLength: 255 })),
  path: Optional(Text({ maxLength: 255 })),
  ...common,
  ...mirror,
  import_url: Optional(Text({ description: 'With the login, if it needs one' })),
  mirror_user_id: Optional(Id({ description: 'In whose name; for administrators' })),
  mirror_overwrites_diverged_branches: Optional(Flag({ description: 'Whether what is here only gives way' })),
  ...levelParams,
  ...settingParams('update'),
})
