import type { Field } from './form.ts'

/** Who is to see what is made. */
export function visibilityField(value: string): Field {
  return {
    name: 'visibility',
    words: 'Who sees it',
    kind: 'choice',
    choices: [
      ['private', 'Its members'],
      ['internal', 'Everybody who is signed in'],
      ['public', 'Everybody'],
    ],
    value,
  }
}
