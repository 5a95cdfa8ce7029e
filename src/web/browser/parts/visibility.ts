import type { Field } from './form.ts'

/** Who is to see what is made: the fewest, unless something else is chosen. */
export const visibilityField: Field = {
  name: 'visibility',
  words: 'Who sees it',
  kind: 'choice',
  choices: [
    ['private', 'Its members'],
    ['internal', 'Everybody who is signed in'],
    ['public', 'Everybody'],
  ],
  value: 'private',
}
