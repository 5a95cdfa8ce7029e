import { Flag, Int, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { avatarParam } from '../avatars/index.ts'
import { preferenceFields, profileFields, type Profile } from './entities.ts'

const optionalText = (description?: string) =>
  Optional(Nullable(Text(description === undefined ? {} : { description })))

/** The parameters of a user that are optional when one is made and when one is changed. */
export const userOptions = {
  ...avatarParam,
  password: Optional(Text({ description: 'At least as long as the setting minimum_password_length' })),
  reset_password: Optional(Flag({ description: 'The user chooses the password by a link that is mailed' })),
  force_random_password: Optional(Flag({ description: 'A password that nobody knows' })),
  admin: Optional(Flag()),
  can_create_group: Optional(Flag({ description: 'May create top-level groups' })),
  external: Optional(Flag({ description: 'Sees internal projects only as a member' })),
  projects_limit: Optional(
    Int({ maximum: 2_147_483_647, description: 'Personal projects that the user may own' }),
  ),
  bio: optionalText(),
  location: optionalText(),
  public_email: optionalText('Shown to everybody; the address itself, or empty'),
  commit_email: optionalText(
    'Author address of commits made here: an address of the user, `_private` for one that tells nothing, or empty',
  ),
  organization: optionalText(),
  website_url: optionalText(),
  linkedin: optionalText(),
  twitter: optionalText(),
  discord: optionalText(),
  github: optionalText(),
  pronouns: optionalText(),
  job_title: optionalText(),
  note: optionalText('For administrators only'),
  private_profile: Optional(Flag({ description: 'Others do not see when the user joined' })),
  theme_id: Optional(Int()),
  color_scheme_id: Optional(Int()),
  view_diffs_file_by_file: Optional(Flag()),
  provider: Optional(Text({ description: 'Where the user is known by `extern_uid`' })),
  extern_uid: Optional(Text({ description: 'Name at `provider`' })),
}

/** The profile with the given parameters laid over it; an empty text takes a field away. */
export function changedProfile(before: Profile, params: Readonly<Record<string, unknown>>): Profile {
  const given = [...profileFields, ...preferenceFields]
    .filter((field) => params[field] !== undefined)
    .map((field) => [field, params[field]])
  const all = Object.entries({ ...before, ...(Object.fromEntries(given) as Profile) })
  return Object.fromEntries(all.filter(([, value]) => value !== null && value !== ''))
}

/** Empty and null mean none; undefined means that nothing was said. */
export function emptyAsNull(text: string | null | undefined, before: string | null): string | null {
  return text === undefined ? before : text === null || text.trim() === '' ? null : text.trim()
}
