import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Patterns } from '../text/regex.ts'
import { holds } from './evaluate.ts'
import { hasPlainMatch } from './inspect.ts'
import { tokenize } from './lexer.ts'
import { parseExpression } from './parser.ts'

const variables: Record<string, string> = {
  A: 'a',
  B: 'b',
  EMPTY: '',
  BRANCH: 'feature/x-1',
  PATTERN: '/^FEATURE/i',
  BROKEN: '/(/',
  TEXT: 'banana',
  YES: 'true',
}
const inputs: Record<string, string | boolean | number> = { env: 'prod', on: true, count: 3 }

function evaluate(text: string): boolean | null {
  const expression = parseExpression(text)
  return (
    expression &&
    holds(expression, {
      variable: (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined),
      input: (name) => inputs[name],
      patterns: new Patterns(),
    })
  )
}

test.each([
  // A lone value holds when it is there and not empty.
  ['$A', true],
  ['$EMPTY', false],
  ['$NOPE', false],
  ['"x"', true],
  ['""', false],
  ['null', false],
  ['true', true],
  ['false', false],
  // Undefined is null, and is not empty.
  ['$NOPE == null', true],
  ['$EMPTY == null', false],
  ['$EMPTY == ""', true],
  ['$NOPE == ""', false],
  ['$NOPE != ""', true],
  ['$A != null', true],
  // By text.
  ['$A == "a"', true],
  ["$A == 'a'", true],
  ['"a" == $A', true],
  ['$A != "b"', true],
  ['$YES == true', true],
  ['$YES == "true"', true],
  // Precedence, from the left.
  ['$A == "x" || $B == "b"', true],
  ['$NOPE && $A || $B', true],
  ['$NOPE && ($A || $B)', false],
  ['$A || $NOPE && $NOPE', true],
  ['($A || $NOPE) && $NOPE', false],
  ['$A == "a" && $B == "b" && $TEXT', true],
  ['$A == "a" == true', true],
  ['( ( $A ) )', true],
  // Patterns, anywhere in the text.
  ['$BRANCH =~ /^feature/', true],
  ['$BRANCH =~ /^FEATURE/', false],
  ['$BRANCH =~ /^FEATURE/i', true],
  ['$BRANCH =~ /^feature\\/x-\\d+$/', true],
  ['$BRANCH !~ /main/', true],
  ['$NOPE =~ /^$/', true],
  ['$NOPE =~ /.+/', false],
  // A pattern in a variable, or nothing, or no pattern.
  ['$BRANCH =~ $PATTERN', true],
  ['$BRANCH =~ $NOPE', false],
  ['$BRANCH !~ $NOPE', true],
  ['$BRANCH =~ $BROKEN', false],
  ['"nan" =~ $TEXT', true],
  ['$TEXT =~ "nan"', false],
  ['$NOPE =~ $TEXT', true],
  ['$[[ inputs.env ]] == "prod"', true],
  ['$[[inputs.on]]', true],
  ['$[[ inputs.count ]] == "3"', true],
  ['$[[ inputs.nope ]]', false],
])('%s is %s', (text, expected) => expect(evaluate(text)).toBe(expected))

test.each([
  '',
  '  ',
  '$',
  '$A ==',
  '== $A',
  '$A = "a"',
  '$A $B',
  '($A',
  '$A)',
  '()',
  '$A == 1',
  '"a',
  '$A =~ /(/',
  '$A =~ /a/',
  '$A =~ //',
  '$A =~ /ab/x',
  '$A & $B',
  '$A =~ /(?<=b)a/',
  'nullx',
  Array(51).fill('$A').join(' && '),
])('%j is no expression', (text) => expect(parseExpression(text)).toBeNull())

test('takes 100 tokens and not one more', () => {
  const hundred = `(${Array(49).fill('$A').join('&&')})`
  expect(tokenize(hundred)).toHaveLength(99)
  expect(tokenize(`${hundred}&&`)).toHaveLength(100)
  expect(tokenize(`${hundred}&&$A`)).toBeNull()
})

test('finds texts that stand where a pattern should', () => {
  const plain = (text: string) => hasPlainMatch(parseExpression(text)!)
  expect(plain('$A && $B =~ "x"')).toBe(true)
  expect(plain('$A =~ "/x/"')).toBe(false)
  expect(plain('$A =~ $B')).toBe(false)
})

const piece = fc.constantFrom(
  '$A',
  '$NOPE',
  '"x"',
  "'",
  '/ab/',
  '/(/',
  '==',
  '=~',
  '!~',
  '&&',
  '||',
  '(',
  ')',
  'null',
  ' ',
)

test('never throws, whatever the text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 30 }).map((all) => all.join(' ')),
      ),
      (text) => {
        expect([true, false, null]).toContain(evaluate(text))
      },
    ),
  )
})

// Random trees, written down with every bracket, mean the same as the tree.
const tree = fc.letrec<{ node: { text: string; value: boolean } }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(
      { text: '$A', value: true },
      { text: '$NOPE', value: false },
      { text: '$A == "b"', value: false },
    ),
    fc.tuple(tie('node'), fc.constantFrom('&&', '||'), tie('node')).map(([left, operator, right]) => ({
      text: `(${left.text} ${operator} ${right.text})`,
      value: operator === '&&' ? left.value && right.value : left.value || right.value,
    })),
  ),
})).node

test('evaluates every tree as written', () => {
  fc.assert(
    fc.property(tree, ({ text, value }) => {
      fc.pre((tokenize(text)?.length ?? 101) <= 100)
      expect(evaluate(text)).toBe(value)
    }),
  )
})
