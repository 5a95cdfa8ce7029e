import type { Expression } from './parser.ts'

const levels = { '||': 1, '&&': 2, '==': 3, '!=': 3, '=~': 3, '!~': 3 } as const

/** The expression as a text again, with no more brackets than it needs. */
export function printExpression(expression: Expression): string {
  switch (expression.is) {
    case 'variable':
      return `$${expression.name}`
    case 'input':
      return `$[[ inputs.${expression.name} ]]`
    case 'pattern':
      return expression.text
    case 'literal':
      return typeof expression.value === 'string' ? quoted(expression.value) : String(expression.value)
    default: {
      const level = levels[expression.is]
      return `${within(expression.left, level)} ${expression.is} ${within(expression.right, level + 1)}`
    }
  }
}

/** A text holds one kind of quotes at most, as there are no escapes. */
const quoted = (text: string) => (text.includes('"') ? `'${text}'` : `"${text}"`)

function within(expression: Expression, level: number): string {
  const text = printExpression(expression)
  return 'left' in expression && levels[expression.is] < level ? `(${text})` : text
}

/** The variables it looks at, each once. */
export function variablesIn(expression: Expression): string[] {
  if ('left' in expression) {
    return [...new Set([...variablesIn(expression.left), ...variablesIn(expression.right)])]
  }
  return expression.is === 'variable' ? [expression.name] : []
}
