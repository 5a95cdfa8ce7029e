import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from '../config/parse.ts'
import { parseExpression, type Expression } from '../expression/parser.ts'
import { printExpression } from '../expression/print.ts'
import { contextOf } from '../fixtures/pipelines.ts'
import type { CompileContext, Explanation } from '../types.ts'
import { compile } from './compile.ts'
import type { JobTrace } from './explanation.ts'

function explain(source: string, changes: Partial<CompileContext> = {}): Explanation {
  const parsed = parse(source)
  if ('errors' in parsed) throw new Error(parsed.errors.join('\n'))
  return compile(parsed.config, contextOf(changes), { explain: true }).explanation!
}

function traceOf(source: string, changes: Partial<CompileContext> = {}): JobTrace {
  return explain(`${source}\nother: {script: x}`, changes).jobs[0]!
}

const branch = { key: 'CI_COMMIT_BRANCH', value: 'main', defined: true, concealed: false }

test('nothing is explained to who did not ask', () => {
  const parsed = parse('a: {script: x}')
  if ('errors' in parsed) throw new Error()
  expect(compile(parsed.config, contextOf())).not.toHaveProperty('explanation')
})

describe('rules', () => {
  test('of which one matches: what each looked at, and that later ones were not looked at', () => {
    const trace = traceOf(
      `
a:
  script: x
  rules:
    - if: $CI_COMMIT_BRANCH == 'free' || $NOPE
      when: never
    - if: $CI_COMMIT_BRANCH
      changes: ['*.md', 'src/**/*']
      when: manual
    - when: always`,
      { changedPaths: ['README.txt', 'src/a/b.ts'] },
    )
    expect(trace).toEqual({
      name: 'a',
      stage: 'test',
      included: true,
      reason: 'rule_matched',
      rule: 1,
      rules: [
        {
          index: 0,
          when: 'never',
          matched: false,
          clauses: [
            {
              clause: 'if',
              holds: false,
              expression: '$CI_COMMIT_BRANCH == "free" || $NOPE',
              values: [branch, { key: 'NOPE', value: null, defined: false, concealed: false }],
            },
          ],
        },
        {
          index: 1,
          when: 'manual',
          matched: true,
          clauses: [
            { clause: 'if', holds: true, expression: '$CI_COMMIT_BRANCH', values: [branch] },
            {
              clause: 'changes',
              holds: true,
              paths: ['*.md', 'src/**/*'],
              compareTo: null,
              comparable: true,
              found: { pattern: 'src/**/*', path: 'src/a/b.ts' },
            },
          ],
        },
        { index: 2, when: 'always', matched: null, clauses: [] },
      ],
      only: null,
      except: null,
    })
  })

  test.each<[string, Partial<CompileContext>, Partial<JobTrace>]>([
    ['[{if: $NOPE}]', {}, { included: false, reason: 'no_rule_matched', rule: null }],
    ['[{when: never}]', {}, { included: false, reason: 'rule_never', rule: 0 }],
    ['[{exists: [Dockerfile]}]', { treePaths: ['Dockerfile'] }, { included: true, reason: 'rule_matched' }],
    ['[{changes: [a]}]', { changedPaths: null }, { included: true, reason: 'rule_matched', rule: 0 }],
  ])('%s', (rules, context, expected) =>
    expect(traceOf(`a: {script: x, rules: ${rules}}`, context)).toMatchObject(expected),
  )

  test('of exists: the file found, a folder by a file in it', () => {
    const source = 'a: {script: x, rules: [{exists: [docs/, "*.md"]}]}'
    const [rule] = traceOf(source, { treePaths: ['src/a.ts', 'docs/x.md'] }).rules!
    expect(rule!.clauses).toMatchObject([{ holds: true, found: { pattern: 'docs/', path: 'docs/x.md' } }])
  })

  test('values that may not be told are not', () => {
    const given = [
      { key: 'TOKEN', value: 'topsecretvalue', masked: true },
      { key: 'PLAIN', value: 'foo', concealed: true },
    ]
    const trace = traceOf('a: {script: x, rules: [{if: $TOKEN =~ /^top/ && $PLAIN == "foo"}]}', {
      variables: { predefined: [], given },
    })
    expect(trace.rules![0]!.clauses[0]).toMatchObject({
      holds: true,
      values: [
        { key: 'TOKEN', value: null, defined: true, concealed: true },
        { key: 'PLAIN', value: null, defined: true, concealed: true },
      ],
    })
    expect(JSON.stringify(trace)).not.toContain('topsecret')
  })

  test('of a workflow, also when it wants no pipeline', () => {
    const { workflow, jobs } = explain('workflow: {rules: [{if: $NOPE}]}\na: {script: x}')
    expect(workflow).toMatchObject([{ index: 0, matched: false }])
    expect(jobs).toEqual([])
  })
})

describe('only and except', () => {
  test.each<[string, Partial<JobTrace>]>([
    [
      '',
      {
        included: true,
        reason: 'always',
        only: [{ clause: 'refs', holds: true, refs: ['branches', 'tags'], found: 'branches' }],
      },
    ],
    [
      'only: [tags]',
      {
        included: false,
        reason: 'only',
        only: [{ clause: 'refs', holds: false, refs: ['tags'], found: null }],
      },
    ],
    [
      'except: {variables: [$NOPE, $CI_COMMIT_BRANCH]}',
      {
        included: false,
        reason: 'except',
        except: [
          {
            clause: 'variables',
            holds: true,
            expressions: [
              {
                expression: '$NOPE',
                values: [{ key: 'NOPE', value: null, defined: false, concealed: false }],
              },
              { expression: '$CI_COMMIT_BRANCH', values: [branch] },
            ],
          },
        ],
      },
    ],
    [
      'only: {refs: [main], changes: [a], kubernetes: active}',
      {
        included: false,
        reason: 'only',
        only: [
          { clause: 'refs', holds: true, refs: ['main'], found: 'main' },
          { clause: 'changes', holds: false, paths: ['a'], compareTo: null, comparable: true, found: null },
        ],
      },
    ],
    ['only: [main]', { included: true, reason: 'filters' }],
  ])('%s', (keys, expected) => expect(traceOf(`a: {script: x, ${keys}}`)).toMatchObject(expected))
})

test('says that it is not complete where there is more to tell than anybody reads', () => {
  const long = `$${'A'.repeat(10_000)}`
  const jobs = Array.from({ length: 600 }, (_, i) => `j${i}: {extends: .r, script: x}`)
  const told = explain(`.r: {rules: [{if: ${long}}, {if: $CI_COMMIT_BRANCH}]}\n${jobs.join('\n')}`)
  expect(told.complete).toBe(false)
  expect(told.jobs).toHaveLength(600)
  expect(told.jobs.at(-1)).toMatchObject({ included: true, rule: 1, rules: null })
})

const leaf = fc.constantFrom<Expression>(
  { is: 'variable', name: 'A' },
  { is: 'input', name: 'x' },
  { is: 'literal', value: "it's" },
  { is: 'literal', value: '"' },
  { is: 'literal', value: null },
  { is: 'literal', value: true },
  { is: 'pattern', text: '/a.b\\/c/i' },
)
const { tree } = fc.letrec<{ tree: Expression }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({
      is: fc.constantFrom('==', '!=', '=~', '!~', '&&', '||'),
      left: tie('tree'),
      right: tie('tree'),
    }) as fc.Arbitrary<Expression>,
  ),
}))

test('an expression is printed so that it means the same', () => {
  fc.assert(
    fc.property(tree, (expression) => {
      const parsed = parseExpression(printExpression(expression))
      fc.pre(parsed !== null)
      expect(parsed).toEqual(expression)
    }),
  )
  expect(printExpression(parseExpression('(($A) || $B) && ($C || $D == "x")')!)).toBe(
    '($A || $B) && ($C || $D == "x")',
  )
})
