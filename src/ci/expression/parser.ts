import { compilePattern } from '../text/regex.ts'
import { tokenize, type Token } from './lexer.ts'

/**
 * The tree of an `if` expression:
 *
 *     expr := and ( "||" and )*
 *     and  := cmp ( "&&" cmp )*
 *     cmp  := term ( ( "==" | "!=" | "=~" | "!~" ) term )*
 *     term := "(" expr ")" | $NAME | string | /pattern/flags | null | true | false | $[[ inputs.x ]]
 */
export type Expression =
  | { is: 'variable' | 'input'; name: string }
  | { is: 'literal'; value: string | boolean | null }
  | { is: 'pattern'; text: string }
  | { is: Operator; left: Expression; right: Expression }

export type Operator = '==' | '!=' | '=~' | '!~' | '&&' | '||'

const comparisons: readonly string[] = ['==', '!=', '=~', '!~']

/** Null: the syntax is wrong (also a pattern that RE2 refuses), or it has more than 100 tokens. */
export function parseExpression(text: string): Expression | null {
  const tokens = tokenize(text)
  if (tokens === null || tokens.length === 0) return null
  const input = { tokens, at: 0 }
  const tree = chain(input, ['||'], and)
  return input.at === tokens.length ? tree : null
}

interface Input {
  tokens: Token[]
  at: number
}

const and = (input: Input) => chain(input, ['&&'], comparison)
const comparison = (input: Input) => chain(input, comparisons, term)

/** Operands joined by operators of one level, from the left. */
function chain(
  input: Input,
  operators: readonly string[],
  operand: (input: Input) => Expression | null,
): Expression | null {
  let left = operand(input)
  while (left !== null && operators.includes(input.tokens[input.at]?.kind ?? '')) {
    const operator = input.tokens[input.at++]!.kind as Operator
    const right = operand(input)
    left = right && { is: operator, left, right }
  }
  return left
}

function term(input: Input): Expression | null {
  const token = input.tokens[input.at++]
  switch (token?.kind) {
    case 'variable':
    case 'input':
      return { is: token.kind, name: token.text }
    case 'string':
      return { is: 'literal', value: token.text }
    case 'null':
      return { is: 'literal', value: null }
    case 'true':
    case 'false':
      return { is: 'literal', value: token.kind === 'true' }
    case 'pattern':
      return (
        compilePattern(token.source, token.flags) && {
          is: 'pattern',
          text: `/${token.source}/${token.flags}`,
        }
      )
    case '(': {
      const inner = chain(input, ['||'], and)
      return input.tokens[input.at++]?.kind === ')' ? inner : null
    }
    default:
      return null
  }
}
