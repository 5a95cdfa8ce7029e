import type { Patterns } from '../text/regex.ts'
import type { Expression } from './parser.ts'

export interface Scope {
  /** Undefined: there is no such variable, which is the same as null. */
  variable(name: string): string | undefined
  input?(name: string): string | number | boolean | null | undefined
  patterns: Patterns
}

type Value = string | boolean | null

/** Whether the condition holds: a lone value holds when it is there and neither empty nor false. */
export function holds(expression: Expression, scope: Scope): boolean {
  return truthy(valueOf(expression, scope))
}

const truthy = (value: Value) => value !== null && value !== false && value !== ''

function valueOf(expression: Expression, scope: Scope): Value {
  switch (expression.is) {
    case 'literal':
      return expression.value
    case 'pattern':
      return expression.text
    case 'variable':
      return scope.variable(expression.name) ?? null
    case 'input': {
      const value = scope.input?.(expression.name) ?? null
      return typeof value === 'number' ? String(value) : value
    }
    case '&&': {
      const left = valueOf(expression.left, scope)
      return truthy(left) ? valueOf(expression.right, scope) : left
    }
    case '||': {
      const left = valueOf(expression.left, scope)
      return truthy(left) ? left : valueOf(expression.right, scope)
    }
  }
  const left = valueOf(expression.left, scope)
  const right = valueOf(expression.right, scope)
  switch (expression.is) {
    case '==':
      return textOf(left) === textOf(right)
    case '!=':
      return textOf(left) !== textOf(right)
    case '=~':
      return matches(left, right, scope.patterns)
    case '!~':
      return !matches(left, right, scope.patterns)
  }
}

/** Comparison is by text; null equals null only, never the empty text. */
const textOf = (value: Value) => (value === null ? null : String(value))

/** On the right may stand a text in place of a pattern; one that is not of pattern form is searched for the left. */
function matches(left: Value, right: Value, patterns: Patterns): boolean {
  if (right === null) return false
  const text = textOf(left) ?? ''
  const pattern = patterns.get(String(right))
  if (pattern !== null) return pattern.test(text)
  return !isPatternText(String(right)) && String(right).includes(text)
}

const isPatternText = (text: string) => /^\/.*\/[ismU]*$/s.test(text)
