import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { contextOf, errorsOf } from '../fixtures/pipelines.ts'
import { mergedYaml, parse } from './parse.ts'
import { readYaml } from './yaml.ts'

const content = (source: string) => JSON.parse(JSON.stringify(readYaml(source).content)) as unknown

test.each([
  ['a: yes', { a: true }],
  ['a: Off', { a: false }],
  ['a: y', { a: 'y' }],
  ['a: 1', { a: 1 }],
  ['a: 1.5', { a: 1.5 }],
  ['a: 1.0', { a: '1.0' }],
  ['a: 12345678901234567890', { a: '12345678901234567890' }],
  ['a: .inf', { a: '.inf' }],
  ['a: ~', { a: null }],
  ['a: "1"', { a: '1' }],
  ['a: |\n  x\n  y', { a: 'x\ny\n' }],
  ['a: 1\na: 2', { a: 2 }],
  ['1: x\ntrue: y', { 1: 'x', true: 'y' }],
  ['a: !custom x', { a: 'x' }],
  ['---\na: 1\n---\nb: 2', { a: 1 }],
  ['spec:\n---\nb: 2', { b: 2 }],
])('%j', (source, expected) => expect(content(source)).toEqual(expected))

test.each([
  ['0', 0],
  ['-0', 0],
  ['+5', 5],
  ['1_000', 1000],
  ['1,000', 1000],
  ['1__0', '1__0'],
  ['12_', '12_'],
  ['12345e7', '12345e7'],
  ['1e3', '1e3'],
  ['1.5e3', '1.5e3'],
  ['1.5e+3', '1500.0'],
  ['15.25e-1', 1.525],
  ['1.', '1.0'],
  ['.5', 0.5],
  ['-1.50', -1.5],
  ['.', '.'],
  ['1.2.3', '1.2.3'],
  ['08', '08'],
  ['017', 15],
  ['-017', -15],
  ['0_7', 7],
  ['00', 0],
  ['0o17', '0o17'],
  ['0x1F', 31],
  ['0xg', '0xg'],
  ['0b11', 3],
  ['0b2', '0b2'],
  ['-9007199254740993', '-9007199254740993'],
  ['0xffffffffffffffff', '18446744073709551615'],
  ['100000000000000000000.0', '100000000000000000000.0'],
  ['1.0e+400', '1.0e+400'],
  ['-.inf', '-.inf'],
  ['.nan', '.nan'],
])('the number %s', (written, expected) => {
  expect(content(`a: ${written}`)).toEqual({ a: expected })
  expect(content(`a: "${written}"`)).toEqual({ a: written })
})

test('a text that could be read as a number is written as a text', () => {
  const texts = ['08', '017', '0b11', '1_000', '1,000', '1e3', '0x1F', '1.', '.5', 'yes', '.inf']
  for (const text of texts) {
    const parsed = parse(`a: {script: x, variables: {V: "${text}"}}`)
    const again = parse(mergedYaml('config' in parsed ? parsed.config : { merged: {} }))
    expect('config' in again && again.config.merged).toMatchObject({ a: { variables: { V: text } } })
  }
})

test('variables are what the numbers mean', () => {
  const parsed = parse('a: {script: x, variables: {A: 08, B: 1e3, C: 017, D: 0o17, E: 1.0}}')
  expect('config' in parsed && parsed.config.jobs[0]!.entry.variables).toMatchObject([
    { key: 'A', value: '08' },
    { key: 'B', value: '1e3' },
    { key: 'C', value: '15' },
    { key: 'D', value: '0o17' },
    { key: 'E', value: '1.0' },
  ])
})

test.each([
  ['a: &x {k: 1, l: 1}\nb: {<<: *x, l: 2}', { k: 1, l: 2 }],
  ['a: &x {k: 1, l: 1}\nb: {l: 2, <<: *x}', { k: 1, l: 2 }],
  ['a: &x {k: 1}\nc: &y {k: 2, m: 3}\nb: {<<: [*x, *y]}', { k: 1, m: 3 }],
  ['a: &x {k: {z: 1}}\nb: {<<: *x, k: {w: 1}}', { k: { w: 1 } }],
  ['b: {"<<": 1}', { '<<': 1 }],
  ['a: &x {k: 1}\nc: &y\n  <<: *x\n  n: 1\nb: {<<: *y}', { k: 1, n: 1 }],
])('merge keys: %j', (source, expected) => expect((content(source) as { b: unknown }).b).toEqual(expected))

test('anchors can be given anew, and are not known within themselves', () => {
  expect(content('a: &x 1\nb: *x\nc: &x 2\nd: *x')).toEqual({ a: 1, b: 1, c: 2, d: 2 })
  expect(errorsOf('a: &x [*x]')).toEqual(['(<unknown>): Unknown alias: x at line 1 column 8'])
})

test('keys of objects are nothing special', () => {
  const data = readYaml('__proto__: {x: 1}\nconstructor: 1\njob: {}').content as Record<string, unknown>
  expect(Object.keys(data)).toEqual(['__proto__', 'constructor', 'job'])
  expect(errorsOf('__proto__: {script: x}\nconstructor: {script: x}')).toEqual([])
  expect(errorsOf('a: {script: x, constructor: 1, extends: toString}')).toEqual([
    'a: unknown keys in `extends` (toString)',
  ])
})

test('keys may be written as symbols', () => {
  expect(readYaml(':test_job:\n  :script: [":a"]\n  ":b": 1\n  :c d: 2').content).toEqual({
    test_job: { script: [':a'], ':b': 1, ':c d': 2 },
  })
})

test.each([
  ['', 'Please provide content of .gitlab-ci.yml'],
  ['  \n', 'Please provide content of .gitlab-ci.yml'],
  ['# nothing', 'Invalid configuration format'],
  ['- a', 'Invalid configuration format'],
  ['text', 'Invalid configuration format'],
  ['a: *b', '(<unknown>): Unknown alias: b at line 1 column 4'],
  ['a: {<<: 1}', '(<unknown>): merge key << needs a map or a list of maps at line 1 column 5'],
  ['a: !reference []', '!reference [] is not valid'],
  ['a: !reference [b, 1]', '!reference ["b",1] is not valid'],
  ['a: {script: !reference b}', '!reference "b" is not valid'],
  ['a: {script: !reference {b: c}}', '!reference {"b":"c"} is not valid'],
  ['a: {script: !reference }', '!reference "" is not valid'],
  ['spec: {inputs: {a: {}}}\n---\na: {script: x}', '`a` input: required value has not been provided'],
])('%j: %s', (source, error) => expect(errorsOf(source)).toEqual([error]))

test('syntax errors name their place', () => {
  expect(errorsOf('a: 1\nb: [')[0]).toMatch(/^\(<unknown>\): .+ at line 2 column \d+$/)
})

describe('hostile files end soon', () => {
  const mega = 2_000_000
  const lines = (count: number, line: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n')
  const tenOf = (text: string) => Array(10).fill(text).join(',')
  test.each([
    ['open lists', '['.repeat(mega)],
    ['open maps', '{'.repeat(mega)],
    ['dashes', '- '.repeat(mega / 2)],
    ['questions', '? '.repeat(mega / 2)],
    ['quotes', '"'.repeat(mega)],
    ['wrong escapes', `"${'\\x'.repeat(mega / 2)}"`],
    ['anchors', '&a '.repeat(mega / 3)],
    ['documents', '---\n'.repeat(mega / 4)],
    ['indents', lines(1900, (i) => `${' '.repeat(i)}a:`)],
    ['too long', `a: ${'x'.repeat(3_000_000)}`],
    [
      'alias bomb',
      `a0: &a0 [${tenOf('x')}]\n${lines(20, (i) => `a${i + 1}: &a${i + 1} [${tenOf(`*a${i}`)}]`)}`,
    ],
    [
      'merge bomb',
      `a0: &a0 {x: 1}\n${lines(2000, (i) => `a${i + 1}: &a${i + 1} {<<: [${tenOf(`*a${i}`)}], k${i}: 1}`)}`,
    ],
    ['reference bomb', `a0: [x]\n${lines(9, (i) => `a${i + 1}: [${tenOf(`!reference [a${i}]`)}]`)}`],
    [
      'extends bomb',
      `l: &l [${Array.from({ length: 500 }, (_, i) => `.b${i}`).join(',')}]\n` +
        `${lines(500, (i) => `.b${i}: {k${i}: 1}`)}\n${lines(10_000, (i) => `j${i}: {extends: *l}`)}`,
    ],
    ['parallel bomb', lines(10_000, (i) => `j${i}: {script: x, parallel: 200}`)],
    ['needs bomb', `p: {script: x, parallel: 200}\n${lines(6000, (i) => `j${i}: {script: x, needs: [p]}`)}`],
  ])('%s', (_, source) => {
    const start = performance.now()
    expect(errorsOf(source).length).toBeGreaterThan(0)
    expect(performance.now() - start).toBeLessThan(30_000)
  })
})

const yaml = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(
    fc.constantFrom(
      ...[
        'script',
        'stage',
        'rules',
        'needs',
        'if',
        'changes',
        'paths',
        'when',
        'variables',
        'image',
        'name',
        'key',
      ],
      ...[
        'cache',
        'artifacts',
        'reports',
        'parallel',
        'matrix',
        'trigger',
        'include',
        'extends',
        'only',
        'refs',
        'job',
      ],
      ...[
        'environment',
        'retry',
        'max',
        'services',
        'default',
        'workflow',
        'inherit',
        'allow_failure',
        'x',
        '.y',
      ],
    ),
    tie('value'),
    { maxKeys: 6 },
  ),
}))

function compileIfPossible(source: string): void {
  const parsed = parse(source)
  if ('config' in parsed) compile(parsed.config, contextOf())
}

const hard = 'a:-[]{},&*!?|>"\'%#\n \t<'.split('')

test('never throws, whatever the text', () => {
  fc.assert(fc.property(fc.string(), (source) => void parse(source)))
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...hard) }), (source) => void parse(source)))
  fc.assert(
    fc.property(yaml.map, (map) => compileIfPossible(JSON.stringify({ ...map, job: map['x'] }))),
    { numRuns: 2000 },
  )
})
