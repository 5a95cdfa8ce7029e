import { tags, type Child } from '../dom.ts'

/** A text whose code stands between backticks. */
export function withCode(text: string): Child {
  return text.split('`').map((part, index) => (index % 2 === 0 ? part : tags.code(part)))
}
