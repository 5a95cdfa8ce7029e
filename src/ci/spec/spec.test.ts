import { describe, expect, test } from 'vitest'
import type { ParseOptions } from '../config/parse.ts'
import { configIn, errorsIn, ownFiles } from '../fixtures/sources.ts'

/** `spec:inputs`: what files take, what may be given, and the literal texts of what is wrong. */

/** What a file with these inputs makes of the given ones: the script of its job, or its errors. */
function result(declared: string, given: Record<string, unknown>, script = '["$[[ inputs.x ]]"]') {
  const source = `spec: {inputs: ${declared}}\n---\nj: {script: ${script}}`
  const options: ParseOptions = { inputs: given }
  const errors = errorsIn({}, source, options)
  return errors.length > 0 ? errors.join() : configIn({}, source, options).jobs[0]!.entry.script!.join()
}

describe('values', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['{x: }', { x: 'a' }, 'a'],
    ['{x: }', { x: 1 }, '1'],
    ['{x: }', { x: true }, 'true'],
    ['{x: {default: d}}', {}, 'd'],
    ['{x: {default: d}}', { x: null }, 'd'],
    ['{x: {default: d}}', { x: '' }, ''],
    ['{x: {default: }}', {}, ''],
    ['{x: {default: 1.5}}', {}, '1.5'],
    ['{x: {options: [a, 1]}}', { x: '1' }, '1'],
    ['{x: {regex: ^v\\d+$}}', { x: 'v12' }, 'v12'],
    ['{constructor: {default: c}, x: {default: d}}', {}, 'd'],
    [
      '{x: {rules: [{if: "$[[ inputs.y ]] =~ /^a$/", default: A}, {options: [b, c], default: b}]}, y: }',
      { y: 'a' },
      'A',
    ],
    [
      '{x: {rules: [{if: "$[[ inputs.y ]] =~ /^a$/", default: A}, {options: [b, c], default: b}]}, y: }',
      { y: '' },
      'b',
    ],
    ['{y: {default: a}, x: {rules: [{if: "$[[ inputs.y ]] =~ /^a$/", default: A}]}}', {}, 'A'],
  ])('%s with %j: %s', (declared, given, value) => expect(result(declared, given)).toBe(value))

  test.each<[string, Record<string, unknown>, string]>([
    ['{x: {type: number}}', { x: 5 }, '5'],
    ['{x: {type: number}}', { x: '5' }, '5'],
    ['{x: {type: number, options: [1, 5]}}', { x: 5 }, '5'],
    ['{x: {type: boolean}}', { x: false }, 'false'],
    ['{x: {type: boolean, default: true}}', {}, 'true'],
    ['{x: {type: array, default: [a, b]}}', {}, '["a","b"]'],
    ['{x: {type: array}}', { x: '[1]' }, '[1]'],
    ['{x: {type: array, options: [a, b, c]}}', { x: ['a', 'c'] }, '["a","c"]'],
  ])('%s with %j: %s', (declared, given, value) =>
    expect(result(declared, given, '["=$[[ inputs.x ]]"]')).toBe(`=${value}`),
  )

  test('a block alone keeps the type of its value', () => {
    const source = `
      spec: {inputs: {list: {type: array, default: [a, b]}, n: {type: number, default: 3}, ok: {type: boolean, default: true}, name: {default: job}}}
      ---
      $[[ inputs.name ]]-$[[ inputs.n ]]: {script: '$[[ inputs.list ]]', allow_failure: '$[[ inputs.ok ]]', parallel: "$[[ inputs.n ]]"}`
    const [job] = configIn({}, source.replaceAll('\n      ', '\n').trim()).jobs
    expect(job).toMatchObject({
      name: 'job-3 1/3',
      entry: { script: ['a', 'b'], allowFailure: true, parallel: { total: 3 } },
    })
  })
})

test.each<[string, Record<string, unknown>, string]>([
  ['{x: }', {}, '`x` input: required value has not been provided'],
  ['{x: {type: number, default: a}}', {}, '`x` input: default value is not a number'],
  ['{x: {type: boolean}}', { x: 'maybe' }, '`x` input: provided value is not a boolean'],
  ['{x: {type: array}}', { x: 'a' }, '`x` input: provided value is not an array'],
  ['{x: }', { x: ['a'] }, '`x` input: provided value is not a string'],
  [
    '{x: {options: [a]}}',
    { x: 'b' },
    '`x` input: `b` cannot be used because it is not in the list of allowed options',
  ],
  [
    '{x: {options: [a], default: b}}',
    {},
    '`x` input: `b` cannot be used because it is not in the list of allowed options',
  ],
  [
    '{x: {type: number, options: [1]}}',
    { x: 2 },
    '`x` input: `2` cannot be used because it is not in the list of the allowed options',
  ],
  [
    '{x: {type: boolean, options: [true]}}',
    { x: true },
    '`x` input: Options can only be used with string and number inputs',
  ],
  ['{x: {regex: ^a$}}', { x: 'b' }, '`x` input: provided value does not match required RegEx pattern'],
  ['{x: {regex: ^a$, default: b}}', {}, '`x` input: default value does not match required RegEx pattern'],
  ['{x: {regex: (}}', { x: 'b' }, '`x` input: invalid regular expression'],
  [
    '{x: {type: number, regex: a}}',
    { x: 1 },
    '`x` input: RegEx validation can only be used with string inputs',
  ],
  [
    '{x: {rules: [{if: "$[[ inputs.y ]] =~ /^a$/", options: [b]}]}, y: }',
    { x: 'c', y: 'a' },
    '`x` input: `c` cannot be used because it is not in the list of allowed options',
  ],
  ['{x: {default: a}}', { y: 1, z: 2 }, 'unknown input arguments: y, z'],
  [
    '{x: , y: }',
    {},
    '`x` input: required value has not been provided, `y` input: required value has not been provided',
  ],
  ['{x: [a]}', {}, 'header:spec:inputs:x config should be a hash'],
  ['[x]', {}, 'header:spec:inputs config should be a hash'],
  ['{x: {y: 1}}', {}, 'header:spec:inputs:x config contains unknown keys: y'],
  ['{x: {type: text}}', {}, 'header:spec:inputs:x input type unknown value: text'],
  ['{x: {regex: 1}}', {}, 'header:spec:inputs:x input regex should be a string'],
  ['{x: {description: [a]}}', {}, 'header:spec:inputs:x input description must be an alphanumeric string'],
  ['{x: {options: a}}', {}, 'header:spec:inputs:x input options should be an array'],
  [
    `{x: {options: [${Array(51).fill('a').join()}]}}`,
    {},
    'header:spec:inputs:x config cannot define more than 50 options',
  ],
  ['{x: {options: [a, null]}}', {}, 'header:spec:inputs:x config options array cannot contain null values'],
  [
    '{x: {options: [a], rules: []}}',
    {},
    'header:spec:inputs:x config these keys cannot be used together: rules, options',
  ],
  [
    '{x: {default: a, rules: []}}',
    {},
    'header:spec:inputs:x config these keys cannot be used together: rules, default',
  ],
  ['{x: {rules: [a]}}', {}, 'header:spec:inputs:x rules should be an array of hashes'],
  ['{x: {rules: [{if: a, default: b}]}}', {}, 'header:spec:inputs:x:rules:rule if invalid expression syntax'],
  [
    '{x: {rules: [{if: "$[[ inputs.x ]]"}]}}',
    {},
    "header:spec:inputs:x:rules:rule config rule with 'if' must define 'options' or 'default'",
  ],
  [
    '{x: {rules: [{default: a}]}}',
    {},
    "header:spec:inputs:x:rules:rule config fallback rule must define 'options'",
  ],
  [
    '{x: {rules: [{if: "$[[ inputs.y ]]", default: a}]}}',
    {},
    'header:spec:inputs:x config rule[0] references undefined inputs: y',
  ],
  [
    '{x: {rules: [{if: "$[[ inputs.y ]]", default: a}]}, y: {rules: [{if: "$[[ inputs.x ]]", default: a}]}}',
    {},
    'header:spec:inputs:x config circular dependency detected',
  ],
])('%s with %j: %s', (declared, given, error) => expect(result(declared, given)).toBe(error))

test.each([
  ['spec: [a]', 'header:spec config should be a hash'],
  ['spec: {outputs: {}}', 'header:spec config contains unknown keys: outputs'],
  ['spec: {component: name}', 'header:spec:component config should be an array of strings'],
  ['spec: {component: [name, color]}', 'header:spec:component config contains unknown values: color'],
])('%s', (header, error) => expect(errorsIn({}, `${header}\n---\nj: {script: x}`)).toEqual([error]))

describe('of the pipeline', () => {
  test('at most twenty', () => {
    const inputs = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`i${i}`, 1]))
    expect(errorsIn({}, 'j: {script: x}', { inputs })).toEqual(['There cannot be more than 20 inputs'])
  })
  test('only for a file that declares them', () => {
    expect(errorsIn({}, 'j: {script: x}', { inputs: {} })).toEqual([])
    expect(errorsIn({}, 'j: {script: x}', { inputs: { x: 1 } })).toEqual([
      'Given inputs not defined in the `spec` section of the included configuration file',
    ])
  })
  test('are known for the form that asks for them', () => {
    const source =
      'spec: {inputs: {x: {description: The x, type: number, options: [1, 2], default: 1}}}\n---\nj: {script: x}'
    expect(configIn({}, source).inputs).toEqual([
      {
        name: 'x',
        description: 'The x',
        type: 'number',
        options: [1, 2],
        default: 1,
        regex: null,
        rules: [],
      },
    ])
  })
})

describe('of included files', () => {
  const file = 'spec: {inputs: {x: }}\n---\n"j-$[[ inputs.x ]]": {script: x}'
  const world = {
    ...ownFiles({
      'i.yml': file,
      'plain.yml': 'j: {script: x}',
      'more.yml': 'inputs: {x: {default: shared}, y: {default: Y}}',
      'odd.yml': 'inputs: {}\nj: {}',
      'shared.yml':
        'spec: {include: [more.yml], inputs: {z: }}\n---\n"$[[ inputs.x ]]$[[ inputs.y ]]$[[ inputs.z ]]": {script: x}',
      'twice.yml': 'spec: {include: [more.yml], inputs: {x: }}\n---\nj: {script: x}',
      'odd-header.yml': 'spec: {include: [odd.yml]}\n---\nj: {script: x}',
    }),
  }
  const names = (source: string) => configIn(world, source).jobs.map(({ name }) => name)

  test('come with the include, each time anew', () => {
    const one = (x: string) => `{local: i.yml, inputs: {x: ${x}}}`
    expect(names(`include: [${one('1')}, ${one('b')}]`)).toEqual(['j-1', 'j-b'])
  })
  test('can be declared in other files', () => {
    expect(names('include: {local: shared.yml, inputs: {z: Z, x: X}}')).toEqual(['XYZ'])
  })
  test.each([
    ['i.yml', '`i.yml`: `x` input: required value has not been provided'],
    ['{local: i.yml, inputs: {x: 1, w: 2}}', '`i.yml`: unknown input arguments: w'],
    [
      '{local: plain.yml, inputs: {x: 1}}',
      '`plain.yml`: Given inputs not defined in the `spec` section of the included configuration file',
    ],
    [
      'twice.yml',
      '`twice.yml`: Duplicate input keys found: x. Input keys must be unique across all included files and inline specifications.',
    ],
    ['odd-header.yml', '`odd-header.yml`: Header include file `odd.yml` contains unknown keys: ["j"]'],
  ])('%s', (include, error) => expect(errorsIn(world, `include: [${include}]`)).toEqual([error]))
})

describe('component', () => {
  const template = (asked: string) =>
    `spec: {component: ${asked}}\n---\nc: {script: ["$[[ component.name ]] $[[ component.version ]] $[[ component.reference ]] $[[ component.sha ]]"]}`
  const world = (asked: string) => ({
    projects: { 'g/p': { '1.2.3': { 'templates/c.yml': template(asked) } } },
    tags: { 'g/p': ['1.2.3'] },
  })
  const source = 'include: {component: ci.example.test/g/p/c@1}'
  test('knows itself', () => {
    const config = configIn(world('[name, version, reference, sha]'), source)
    expect(config.jobs[0]!.entry.script).toEqual(['c 1.2.3 1 sha-1.2.3'])
  })
  test('but only what it asked for', () => {
    expect(errorsIn(world('[name]'), source)).toEqual([
      '`ci.example.test/g/p/c@1`: unknown interpolation provided: `version` in `component.version`',
    ])
  })
})
