import { splitPattern } from '../text/regex.ts'
import type { Expression } from './parser.ts'

/** Whether somewhere a text that is no pattern stands on the right of `=~` or `!~`. */
export function hasPlainMatch(expression: Expression): boolean {
  if (!('left' in expression)) return false
  const { is, left, right } = expression
  const plain =
    right.is === 'literal' && typeof right.value === 'string' && splitPattern(right.value) === null
  return ((is === '=~' || is === '!~') && plain) || hasPlainMatch(left) || hasPlainMatch(right)
}
