import { Int, OneOf, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Snippets and notes. */
export const collaborationSettings = {
  default_snippet_visibility: setting(OneOf('private', 'internal', 'public'), 'private', {
    about: 'Visibility of a new personal snippet whose creator names none.',
    effect: 'A snippet created without `visibility` has this one.',
  }),
  snippet_size_limit: setting(Int({ minimum: 1, description: 'In bytes' }), 50 * 1024 * 1024, {
    about: 'Largest file of a snippet.',
    effect: 'A larger one is refused.',
  }),
  notes_create_limit: setting(Int({ minimum: 0 }), 300, {
    about: 'Notes that a user may write in a minute; 0 is unlimited.',
    effect: 'The next one is answered 429.',
  }),
  notes_create_limit_allowlist_raw: setting(Text(), '', {
    about: 'Names of users to whom `notes_create_limit` does not apply.',
    effect: 'They are never answered 429 for it.',
  }),
}
